// The applet editor: fields that were checked while somebody is writing say whether they are right.
"use strict";

document.addEventListener("htmx:oobAfterSwap", (event) => {
  const id = event.detail.target?.id || "";
  const input = id.endsWith("-error") && document.getElementById(id.slice(0, -"-error".length));
  if (!input || !input.matches("input, select, textarea")) return;
  const wrong = document.getElementById(id).textContent.trim() !== "";
  if (wrong) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
});
