// Orders: one POST each, with the event the reader had seen; the answer is shown once, whichever way it comes first.
import { announce, page } from "./state.js";

const STAYS = 9000;
const answers = document.getElementById("answers");
const box = document.getElementById("say-text");
const how = document.getElementById("say-how");
const WORDS = { steer: "Steer", queue: "Queue", interrupt: "Interrupt" };
const SENT = { steer: "Asked: delivered at the next safe point", queue: "Queued: delivered when the run stops", interrupt: "Asked: the reply is cut and the message delivered" };
const NAMES = { say: "Message", pause: "Pause", resume: "Resume", step: "Step", stop: "Stop", stop_now: "Stop now", approve: "Allow", deny: "Refuse", edit: "Edit", answer: "Outcome" };

function token() {
  return JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
}

function address(kind) {
  return document.getElementById("say").action.replace(/say\/$/, `${kind}/`);
}

function key() {
  return crypto.randomUUID?.() ?? `${Date.now()}-${Math.random().toString(36).slice(2)}`;
}

export async function order(kind, args = {}, button = null) {
  const body = new URLSearchParams({ ...args, seen_seq: page.dataset.seq, client_key: key() });
  button?.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(address(kind), { method: "POST", body, credentials: "same-origin", headers: { Accept: "application/json", "X-CSRFToken": token() } });
    const told = await answer.json().catch(() => ({}));
    if (!answer.ok) show(told.order, `${NAMES[kind] || kind}: not done.`, told.error || told.reason || `The server answered ${answer.status}.`, "warn");
    return answer.ok;
  } catch {
    show(0, `${NAMES[kind] || kind}: not sent.`, "The server cannot be reached. Try again when the connection is back.", "bad");
    return false;
  } finally {
    button?.removeAttribute("aria-busy");
  }
}

function show(id, title, detail, css) {
  const shown = document.createElement("span");
  shown.className = `answer ${css}`;
  shown.dataset.answer = "";
  if (id) shown.id = `answer-${id}`;
  const close = Object.assign(document.createElement("button"), { type: "button", className: "icon-btn", textContent: "×" });
  close.dataset.dismiss = "";
  close.setAttribute("aria-label", "Dismiss");
  shown.append(Object.assign(document.createElement("b"), { className: "m nw", textContent: title }), Object.assign(document.createElement("span"), { className: "f2 el", textContent: detail, title: detail }), close);
  answers.prepend(shown);
  tidy();
}

// Each answer once, the two newest at most, and not for ever unless somebody reads it.
function tidy() {
  const seen = new Set();
  for (const one of [...answers.children]) {
    if ((one.id && seen.has(one.id)) || seen.size > 1) {
      one.remove();
      continue;
    }
    seen.add(one.id || one);
    if (one.dataset.timed) continue;
    one.dataset.timed = "1";
    setTimeout(() => leave(one), one.classList.contains("ok") ? STAYS : STAYS * 2);
  }
}

function leave(one) {
  if (one.matches(":hover, :focus-within")) setTimeout(() => leave(one), STAYS);
  else one.remove();
}

async function say(delivery) {
  const text = box.value.trim();
  if (!text) return box.focus();
  const sent = box.value;
  if (await order("say", { text, how: delivery }, document.querySelector("[data-say]"))) {
    if (box.value === sent) box.value = "";
    announce(SENT[delivery]);
  }
}

function ask(open) {
  const panel = document.getElementById("ask-stop");
  panel.hidden = !open;
  if (open) panel.querySelector("button").focus();
  else document.querySelector('.controls [data-order="stop"]')?.focus();
}

// Buttons that say the same stay the same: a press that has begun on one ends on it, and the focus stays.
function onlyNew(event) {
  const { target, fragment } = event.detail;
  if (target.id === "controls" && said(target) === said(fragment.firstElementChild)) event.detail.shouldSwap = false;
}

function said(controls) {
  const words = [...controls.querySelectorAll("button")].map((button) => `${button.textContent} ${button.disabled} ${button.title}`);
  return [controls.dataset.state, ...words].join("|");
}

export function closeAsk() {
  const panel = document.getElementById("ask-stop");
  if (panel.hidden) return false;
  ask(false);
  return true;
}

function clicked(event) {
  if (event.target.closest("[data-dismiss]")) return event.target.closest("[data-answer]").remove();
  if (event.target.closest("[data-keep]")) return ask(false);
  const button = event.target.closest("[data-order]");
  if (!button) return undefined;
  event.preventDefault();
  const kind = button.dataset.order;
  if (kind === "stop" && !button.closest("#ask-stop")) return ask(true);
  if (button.closest("#ask-stop")) ask(false);
  return order(kind, kind === "step" ? { n: 1 } : {}, button);
}

export function press(selector) {
  const button = document.querySelector(selector);
  if (button && !button.disabled) button.click();
}

export function start() {
  if (matchMedia("(max-width: 760px)").matches) box.placeholder = "Tell the agent something";
  document.addEventListener("click", clicked);
  document.addEventListener("htmx:oobBeforeSwap", onlyNew);
  document.addEventListener("htmx:oobAfterSwap", () => document.querySelector('.controls [data-order="stop"]').disabled && closeAsk());
  document.getElementById("say").addEventListener("submit", (event) => {
    event.preventDefault();
    say(how.value);
  });
  how.addEventListener("change", () => (document.querySelector("[data-how]").textContent = WORDS[how.value]));
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    say(event.altKey ? "queue" : event.ctrlKey || event.metaKey ? "interrupt" : how.value);
  });
  new MutationObserver(tidy).observe(answers, { childList: true });
}
