// What the pages do in the browser besides htmx. Without it everything can be read.
"use strict";

// Show what only works with a program, such as copying.
function enliven(root) {
  for (const button of root.querySelectorAll("[data-copy][hidden]")) button.hidden = false;
  for (const input of root.querySelectorAll('[data-own-zone="true"]')) {
    if (!input.value) input.value = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
  }
}

// The text field that was last used: chips are put there.
let lastField = null;
document.addEventListener("focusin", (event) => {
  if (event.target.matches("[data-takes-ingredients]")) lastField = event.target;
});

function insert(field, text) {
  field.focus();
  field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

document.addEventListener("click", async (event) => {
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    const source = document.getElementById(copy.dataset.copy);
    source.select();
    try {
      await navigator.clipboard.writeText(source.value);
    } catch {
      document.execCommand("copy"); // Over plain http there is no clipboard but this one.
    }
    const before = copy.textContent;
    copy.textContent = copy.dataset.copied;
    setTimeout(() => { copy.textContent = before; }, 2000);
  }
  const chip = event.target.closest("[data-insert]");
  if (chip) {
    const scope = chip.closest("[data-chips-for]");
    const near = scope && document.getElementById(scope.dataset.chipsFor);
    const target = near || lastField;
    if (target && target.isConnected) insert(target, chip.dataset.insert);
  }
});

// Of a double click on a button the first one counts. What htmx sends, it keeps apart itself.
const sentAt = new WeakMap();
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.getAttribute("method") !== "post") return;
  if (Date.now() - (sentAt.get(event.target) ?? 0) < 2000) event.preventDefault();
  else sentAt.set(event.target, Date.now());
});

document.addEventListener("htmx:load", (event) => enliven(event.target));
// What is refused for its content (422) is shown in place.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.xhr.status === 422) {
    event.detail.shouldSwap = true;
    event.detail.isError = false;
  }
});

// Everything else that goes wrong on the way is said at the top of the page.
function tellTrouble(name) {
  const place = document.getElementById("trouble");
  place.hidden = !name;
  place.textContent = name ? place.dataset[name] : "";
}
document.addEventListener("htmx:afterRequest", (event) => {
  const status = event.detail.xhr.status;
  if (status === 422 || (status >= 200 && status < 400)) tellTrouble("");
});
document.addEventListener("htmx:responseError", (event) => {
  tellTrouble(event.detail.xhr.status < 500 ? "refused" : "broken");
});
document.addEventListener("htmx:sendError", () => tellTrouble("offline"));

enliven(document);
