// The card of a call that waits: what it shows is what is answered, with its call and its hash. A allows, D refuses.
import { announce, go, view } from "./state.js";
import { order } from "./steer.js";

const SAID = { approve: "Allowed", deny: "Refused", edit: "Allowed with another input", answer: "Answered", say: "Asked: delivered at the next safe point" };

function card() {
  return document.getElementById("asks");
}

function given(form) {
  const args = Object.fromEntries(new FormData(form));
  delete args.csrfmiddlewaretoken;
  return args;
}

async function submitted(event) {
  const form = event.target.closest("form[data-ask]");
  if (!form) return;
  event.preventDefault();
  const kind = form.dataset.ask;
  if (await order(kind, given(form), form.querySelector("button[type=submit]"))) announce(SAID[kind]);
}

// The card comes into view; while the past is looked at, the present comes back first.
export function look() {
  if (view.turn !== null) go({ turn: null });
  const here = card();
  if (!here) return false;
  here.scrollIntoView({ block: "nearest" });
  here.focus({ preventScroll: true });
  return true;
}

// The first press only goes to the card: nothing is allowed that is not in view.
export function allow() {
  const here = card();
  if (here && !here.contains(document.activeElement)) return look();
  here?.querySelector("[data-allow]")?.click();
}

export function refuse() {
  const box = card()?.querySelector("[data-refuse]");
  if (!box || !look()) return;
  box.open = true;
  box.querySelector('input[name="reason"]').focus();
}

export function start() {
  // An opened form comes into view; toggle does not bubble.
  document.addEventListener("toggle", ({ target }) => target.matches(".asks-more[open]") && target.scrollIntoView({ block: "nearest" }), true);
  document.addEventListener("submit", submitted);
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-asks]")) return;
    event.preventDefault();
    look();
  });
}
