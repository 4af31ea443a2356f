// The fleet keeps itself fresh: every two seconds, only rows that changed, never under the pointer, never from under the focus.
import { listen } from "./dialogs_keys.js";

const list = document.getElementById("fleet");
const find = document.querySelector("#fleet-filter input[name=q]");
const STEPS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

function ago(moment) {
  const seconds = Math.max(0, Math.round((Date.now() - moment) / 1000));
  if (seconds < 2) return "now";
  const [unit, size] = STEPS.find(([, length]) => seconds >= length);
  return `${Math.floor(seconds / size)} ${unit} ago`;
}

function tell(scope = document) {
  for (const time of scope.querySelectorAll("time[data-ago]")) {
    const words = ago(new Date(time.dateTime));
    if (time.textContent !== words) time.textContent = words;
  }
}

// Rows stay the same elements as long as nothing in them changed, so the focus and the pointer stay where they are.
function patch(fresh) {
  const wanted = [...fresh.children];
  const focused = document.activeElement?.id;
  const quiet = !list.matches(":hover") && !list.contains(document.activeElement);
  const old = new Map([...list.children].map((row) => [row.id, row]));
  const kept = wanted.map((row) => {
    const mine = row.id && old.get(row.id);
    if (!mine) return row;
    if (mine.dataset.version !== row.dataset.version) {
      mine.replaceWith(row);
      htmx.process(row);
      return row;
    }
    return mine;
  });
  const names = new Set(wanted.map((row) => row.id));
  for (const row of [...list.children]) if (!names.has(row.id)) row.remove();
  for (const row of kept) if (row.parentNode !== list) { list.append(row); htmx.process(row); }
  if (quiet) list.append(...kept);
  if (focused && document.activeElement?.id !== focused) document.getElementById(focused)?.focus({ preventScroll: true });
  list.dataset.version = quiet || sameOrder(kept) ? fresh.dataset.version : "";
}

function sameOrder(rows) {
  return rows.every((row, at) => list.children[at] === row);
}

document.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.elt === list) event.detail.parameters.seen = list.dataset.version;
});

document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.elt !== list) return;
  event.detail.shouldSwap = false;
  if (event.detail.xhr.status !== 200) return;
  const page = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html");
  for (const id of ["fleet-groups", "fleet-totals"]) document.getElementById(id).replaceWith(page.getElementById(id));
  patch(page.getElementById("fleet"));
  tell();
});

// The line to the server: the list says when it is old, and that nothing is lost.
const live = document.getElementById("fleet-live");

function heard(state, words) {
  if (live.dataset.state === state) return;
  live.dataset.state = state;
  live.lastElementChild.textContent = words;
}

document.addEventListener("htmx:sendError", (event) => event.detail.elt === list && heard("reconnecting", "Reconnecting"));
document.addEventListener("htmx:afterOnLoad", (event) => event.detail.elt === list && heard("live", "Live"));

function step(by) {
  const links = [...list.querySelectorAll(".run-row:not([hidden]) .open")];
  const at = links.findIndex((link) => link.closest(".run-row").contains(document.activeElement));
  links[Math.min(Math.max(at + by, 0), links.length - 1)]?.focus();
}

function hold() {
  const row = document.activeElement?.closest(".run-row");
  if (!row) return;
  const kind = ["paused", "failed", "waiting"].includes(row.dataset.state) ? "resume" : "pause";
  htmx.ajax("POST", `/runs/${row.dataset.slug}/orders/${kind}/`, { source: row, swap: "none" });
}

listen({
  j: () => step(1),
  k: () => step(-1),
  p: hold,
  n: () => document.querySelector("[data-new-run]").click(),
  "/": () => find.focus(),
});

let typing = 0;
find.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => { list.dataset.version = ""; htmx.trigger(list, "fresh"); }, 150);
});

tell();
setInterval(tell, 1000);
