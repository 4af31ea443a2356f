// The connection in words: live, reconnecting, stale, back again. Nothing is lost in any of them, and each says so.
import { last, over, page } from "./state.js";

const banner = document.getElementById("offline");
const dot = document.getElementById("live");
const BACK = 12_000;
const STALE = 30_000;
let state = "";
let turnBefore = 0;
let timer = 0;
let aging = 0;

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

function say(css, symbol, strong, words, button = null) {
  clearTimeout(timer);
  const icons = document.querySelector(".chart-head use").getAttribute("href").split("#")[0];
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "i");
  svg.append(document.createElementNS("http://www.w3.org/2000/svg", "use"));
  svg.firstChild.setAttribute("href", `${icons}#${symbol}`);
  const text = document.createElement("span");
  text.className = "grow";
  text.append(Object.assign(document.createElement("b"), { textContent: `${strong} ` }), Object.assign(document.createElement("span"), { className: "f2", textContent: words }));
  banner.className = `banner ${css}`;
  banner.replaceChildren(svg, text, ...(button ? [button] : []));
  banner.hidden = false;
}

function action(words, act) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "btn small", textContent: words });
  button.addEventListener("click", act);
  return button;
}

function word() {
  const words = { live: over() ? "Ended" : "Live", reconnecting: "Reconnecting", stale: "Offline" };
  dot.dataset.state = state === "live" && over() ? "ended" : state;
  dot.querySelector("span").textContent = words[state] || "Live";
}

function changed({ state: now, missed, why }) {
  const was = state;
  if (was === "stale" && now === "reconnecting") return; // it stays old until the line is back
  state = now;
  page.dataset.line = now;
  word();
  if (now === "reconnecting") {
    if (was === "live" || !was) turnBefore = last();
    clearTimeout(aging);
    aging = setTimeout(() => state === "reconnecting" && changed({ state: "stale", missed: 0, why: "" }), STALE);
    say("warn", "plug", "Reconnecting, nothing is lost.", "The run goes on; what you miss is shown when the line is back.");
  } else if (now === "stale") {
    const reasons = { "logged out": "You are logged out.", "no such run": "This run is no longer there." };
    say("warn", "clock", reasons[why] || `Showing the state of ${clock.format(new Date())}.`, "Orders wait until we are back.", action("Reload", () => location.reload()));
    freeze();
  } else if (was && was !== "live") back(missed);
}

function freeze() {
  const pill = document.querySelector("[data-pill] span");
  if (pill && !pill.textContent.startsWith("Last seen")) pill.textContent = `Last seen ${pill.textContent.toLowerCase()}`;
}

function thaw() {
  const pill = document.querySelector("[data-pill] span");
  if (!pill?.textContent.startsWith("Last seen ")) return;
  const rest = pill.textContent.slice("Last seen ".length);
  pill.textContent = rest[0].toUpperCase() + rest.slice(1);
}

function back(missed) {
  thaw();
  const turns = last() - turnBefore;
  banner.hidden = true;
  if (!missed) return;
  const first = document.querySelector(`#feed-scroll [data-turn="${turnBefore + 1}"]`);
  const jump = turns > 0 && first ? action(`Show from ${turnBefore + 1}`, () => first.scrollIntoView({ block: "start" })) : null;
  const what = turns > 0 ? `${turns} turn${turns === 1 ? "" : "s"} arrived while you were away.` : "You are up to date.";
  say("info", "tick", "Back.", what, jump);
  timer = setTimeout(() => (banner.hidden = true), BACK);
}

function elapsed() {
  const shown = document.querySelector("[data-elapsed]");
  if (!shown) return;
  const end = shown.dataset.until ? new Date(shown.dataset.until) : new Date();
  shown.textContent = span((end - new Date(shown.dataset.since)) / 1000);
}

function span(seconds) {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return `${Math.max(0, Math.floor(seconds))} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 1) return `${minutes} min`;
  return hours < 24 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function start() {
  document.addEventListener("agentdash:live", ({ detail }) => changed(detail));
  document.addEventListener("agentdash:events", word);
  setInterval(elapsed, 1000);
}
