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

// What was typed is not stored before it is saved: whoever leaves is asked.
let typed = false;
document.addEventListener("input", (event) => {
  if (event.target.closest("#editor-form")) typed = true;
});
document.addEventListener("submit", (event) => {
  // What htmx sends itself leaves no page.
  if (event.target.id === "editor-form" && !event.defaultPrevented) typed = false;
});
document.addEventListener("htmx:beforeOnLoad", (event) => {
  if (event.detail.xhr.getResponseHeader("HX-Redirect")) typed = false;
});
window.addEventListener("beforeunload", (event) => {
  if (typed) event.preventDefault();
});
