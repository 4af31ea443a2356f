// The page of one edit: hover a block and its ribbon lights up; one diff open at a time; filters; keys.
import { listen } from "./dialogs_keys.js";

const page = document.querySelector(".edit-page");
const map = document.querySelector("[data-map]");
const list = document.querySelector("[data-blocks]");
const items = list ? [...list.children] : [];

function keysOf(node) {
  const block = node.closest?.("[data-keys]");
  if (block) return block.dataset.keys.split(" ");
  const item = node.closest?.("[data-key]");
  return item ? [item.dataset.key] : [];
}

// Ribbons and blocks of merged entries carry the first key; their group knows all of them.
function light(keys) {
  const groups = [...map.querySelectorAll(".bk")].filter((group) => group.dataset.keys.split(" ").some((key) => keys.includes(key)));
  const firsts = new Set(groups.map((group) => group.dataset.key));
  map.classList.toggle("lit", groups.length > 0);
  for (const group of map.querySelectorAll(".bk")) group.classList.toggle("on", groups.includes(group));
  for (const ribbon of map.querySelectorAll(".rb")) ribbon.classList.toggle("on", firsts.has(ribbon.dataset.key));
  for (const item of items) item.classList.toggle("on", keys.includes(item.dataset.key));
}

for (const place of [map, list].filter(Boolean)) {
  place.addEventListener("pointerover", (event) => light(keysOf(event.target)));
  place.addEventListener("pointerleave", () => light([]));
  place.addEventListener("focusin", (event) => light(keysOf(event.target)));
}

map?.addEventListener("click", (event) => {
  const [key] = keysOf(event.target);
  const row = key && document.getElementById(`b-${key}`);
  if (!row) return;
  row.scrollIntoView({ block: "nearest" });
  row.focus({ preventScroll: true });
  row.click();
});

function close(row) {
  row.setAttribute("aria-expanded", "false");
  row.nextElementSibling.hidden = true;
}

// A row that is open closes; opening one closes the other.
document.addEventListener("htmx:confirm", (event) => {
  const row = event.detail.elt;
  if (!row.matches?.(".block-list .br")) return;
  const open = row.getAttribute("aria-expanded") === "true";
  for (const other of list.querySelectorAll(".br[aria-expanded=true]")) close(other);
  if (open) event.preventDefault();
});

document.addEventListener("htmx:afterSwap", (event) => {
  if (!event.target.matches?.(".df")) return;
  event.target.hidden = false;
  event.target.previousElementSibling.setAttribute("aria-expanded", "true");
});

const chosen = { fate: "", text: "" };

function filter() {
  for (const item of items) {
    const words = item.textContent.toLowerCase();
    item.hidden = Boolean(chosen.fate && item.dataset.fate !== chosen.fate) || !words.includes(chosen.text);
  }
}

for (const button of document.querySelectorAll("[data-fate].pick")) {
  button.addEventListener("click", () => {
    chosen.fate = button.dataset.fate;
    for (const other of document.querySelectorAll(".pick")) other.setAttribute("aria-pressed", String(other === button));
    filter();
  });
}

document.querySelector("[data-filter]")?.addEventListener("input", (event) => {
  chosen.text = event.target.value.trim().toLowerCase();
  filter();
});

function step(by) {
  const rows = items.filter((item) => !item.hidden).map((item) => item.querySelector(".br"));
  const at = rows.indexOf(document.activeElement);
  rows[Math.min(Math.max(at + by, 0), rows.length - 1)]?.focus();
}

function leave() {
  const open = list?.querySelector(".br[aria-expanded=true]");
  if (!open) return location.assign(page.dataset.up);
  close(open);
  open.focus();
}

const go = (address) => address && location.assign(address);
listen({
  j: () => step(1),
  k: () => step(-1),
  "[": () => go(page.dataset.previous),
  "]": () => go(page.dataset.following),
  "/": () => document.querySelector("[data-filter]")?.focus(),
  Escape: leave,
});

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
for (const time of document.querySelectorAll("time[data-clock]")) time.textContent = clock.format(new Date(time.dateTime));
