// Single keys, while no text field has the focus. They can be switched off in the list of keys.
import { allow, refuse } from "./asking.js";
import { jumpToFold, step, toggleTable } from "./chart.js";
import { move, toEnd } from "./feed.js";
import { closeDrawer, tab } from "./inspector.js";
import { go, page, view } from "./state.js";
import { closeAsk, press } from "./steer.js";

const list = document.getElementById("keys");
const enabled = document.getElementById("keys-on");
const box = document.getElementById("say-text");

function showKeys() {
  list.opener = document.activeElement;
  list.showModal();
}

function live() {
  if (view.turn === null) toEnd();
  else go({ turn: null });
}

function goTo() {
  const handle = document.getElementById("readout-turn");
  const input = Object.assign(document.createElement("input"), { type: "number", min: 1, className: "goto", value: "", placeholder: "turn" });
  input.setAttribute("aria-label", "Go to turn");
  let asking = true;
  const done = (apply) => {
    if (!asking) return;
    asking = false; // taking the input away blurs it, which would end up here once more
    const turn = Number(input.value);
    input.remove();
    handle.hidden = false;
    if (apply && turn > 0) go({ turn });
  };
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") done(true);
    if (event.key === "Escape") done(false);
  });
  input.addEventListener("blur", () => done(false));
  handle.hidden = true;
  handle.before(input);
  input.focus();
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  ArrowLeft: () => step(-1),
  ArrowRight: () => view.turn !== null && step(1),
  "[": () => jumpToFold(-1),
  "]": () => jumpToFold(1),
  Home: () => go({ turn: 1 }),
  End: live,
  t: toggleTable,
  p: () => press('.controls [data-order="pause"], .controls [data-order="resume"]'),
  s: () => press('.controls [data-order="step"]'),
  c: () => press('[data-dialog="compact"]'),
  m: () => location.assign(`/runs/${page.dataset.run}/window/${view.turn ? `?turn=${view.turn}` : ""}`),
  g: goTo,
  "/": () => location.assign(`/runs/${page.dataset.run}/archive/`),
  i: () => box.focus(),
  a: allow,
  d: refuse,
  "?": showKeys,
};

function escape() {
  if (document.activeElement === box) return box.blur();
  return closeAsk() || closeDrawer() || (view.turn !== null && go({ turn: null }));
}

function inField(target) {
  return target.matches("input:not([type=checkbox]), textarea, select, [contenteditable]");
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") return escape();
  if (inField(event.target) || !enabled.checked) return;
  const act = KEYS[event.key] || KEYS[event.key.toLowerCase()];
  if (act) {
    event.preventDefault();
    act();
  } else if (/^[1-5]$/.test(event.key)) {
    tab(Number(event.key));
  }
}

export function start() {
  enabled.checked = localStorage.getItem("keys") !== "off";
  enabled.addEventListener("change", () => localStorage.setItem("keys", enabled.checked ? "on" : "off"));
  document.addEventListener("keydown", pressed);
  document.addEventListener("click", (event) => event.target.closest("[data-keys]") && showKeys());
}
