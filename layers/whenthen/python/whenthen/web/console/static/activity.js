// Pages that renew themselves: paused on request and while nobody looks, and what is unfolded stays so.
"use strict";

let paused = false;

function isLive(event) {
  return event.target instanceof Element && event.target.matches("[data-live]");
}

document.addEventListener("htmx:beforeRequest", (event) => {
  if (isLive(event) && (paused || document.hidden)) event.preventDefault();
});

let unfolded = new Map();
document.addEventListener("htmx:beforeSwap", (event) => {
  if (!isLive(event)) return;
  unfolded = new Map([...event.target.querySelectorAll("details[id]")].map((part) => [part.id, part.open]));
});
document.addEventListener("htmx:afterSwap", () => {
  for (const [id, open] of unfolded) {
    const part = document.getElementById(id);
    if (part) part.open = open;
  }
  unfolded.clear();
});

for (const button of document.querySelectorAll("[data-pause]")) {
  const words = button.textContent;
  button.hidden = false;
  button.addEventListener("click", () => {
    paused = !paused;
    button.textContent = paused ? button.dataset.resume : words;
  });
}
