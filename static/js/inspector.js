// The inspector: tabs, its width, the window's map and list side by side, and a new look when the run moved on.
import { find } from "./feed.js";
import { renew } from "./part.js";
import { go, page, query, view } from "./state.js";

const SETTLE = 350;
const MOVES = /^(turn\.closed|window\.|note\.|compaction\.|order\.answered|person\.said|run\.state|recall\.|message\.repaired|turn\.lost)/;
const panel = document.getElementById("panel");
const phone = matchMedia("(max-width: 760px)");
let timer = 0;

function scroller() {
  return panel.querySelector(".entries, .scroll");
}

export async function load({ keep = false } = {}) {
  clearTimeout(timer);
  timer = 0;
  let was = 0;
  const remember = () => (was = keep ? scroller()?.scrollTop ?? 0 : 0);
  const drawn = await renew(panel, page.dataset.inspectorUrl + query(), remember);
  if (drawn && was && scroller()) scroller().scrollTop = was;
}

function pick(tab, focus = false) {
  pane(tab);
  go({ tab }, { replace: true });
  select();
  if (focus) document.getElementById(`tab-${tab}`).focus();
}

export function tab(number) {
  const tabs = [...document.querySelectorAll("#tabs [data-tab]")];
  if (tabs[number - 1]) pick(tabs[number - 1].dataset.tab);
}

function select() {
  for (const one of document.querySelectorAll("#tabs [role=tab]")) {
    const on = phone.matches ? (one.dataset.pane || one.dataset.tab) === page.dataset.pane : one.dataset.tab === view.tab;
    one.setAttribute("aria-selected", String(on));
    one.tabIndex = on ? 0 : -1;
  }
  panel.setAttribute("aria-labelledby", `tab-${view.tab}`);
}

// On a phone one pane shows at a time: the feed or a tab.
function pane(name) {
  page.dataset.pane = name;
}

function drawer(open = page.dataset.drawer !== "open") {
  page.dataset.drawer = open ? "open" : "";
  for (const button of document.querySelectorAll("[data-drawer]")) button.setAttribute("aria-expanded", String(open));
}

export function closeDrawer() {
  if (page.dataset.drawer !== "open") return false;
  drawer(false);
  return true;
}

function clicked(event) {
  const { target } = event;
  if (target.closest("[data-drawer]") && target.closest("button")) return drawer();
  const tabbed = target.closest("#tabs [role=tab]");
  if (tabbed) {
    event.preventDefault();
    if (tabbed.dataset.pane) pane(tabbed.dataset.pane);
    else pick(tabbed.dataset.tab);
    return select();
  }
  const sort = target.closest("[data-sort]");
  if (sort) return go({ sort: sort.dataset.sort }, { replace: true });
  const log = target.closest("[data-log]");
  if (log) return go({ log: log.dataset.log }, { replace: true });
  const row = target.closest("[data-row]");
  if (row) {
    event.preventDefault();
    if (phone.matches) pane("feed");
    closeDrawer();
    find(row.dataset.row, row.dataset.turn);
  }
}

function light(key, from) {
  for (const one of panel.querySelectorAll(".on")) one.classList.remove("on");
  if (!key) return;
  for (const one of panel.querySelectorAll(`[data-entry="${key}"]`)) one.classList.add("on");
  if (from.tagName === "rect") panel.querySelector(`li[data-entry="${key}"]`)?.scrollIntoView({ block: "nearest" });
}

function arrows(event) {
  if (!event.target.matches("#tabs [role=tab]") || !["ArrowLeft", "ArrowRight"].includes(event.key)) return;
  const tabs = [...document.querySelectorAll("#tabs [data-tab]")];
  const next = tabs[(tabs.indexOf(event.target) + (event.key === "ArrowRight" ? 1 : tabs.length - 1)) % tabs.length];
  event.stopPropagation();
  event.preventDefault();
  pick(next.dataset.tab, true);
}

function width(pixels) {
  const kept = Math.min(Math.max(pixels, 320), 560);
  document.documentElement.style.setProperty("--inspector", `${kept}px`);
  localStorage.setItem("inspector", kept);
}

function splitter() {
  const bar = document.getElementById("splitter");
  const kept = Number(localStorage.getItem("inspector"));
  if (kept) width(kept);
  bar.addEventListener("pointerdown", (event) => {
    bar.setPointerCapture(event.pointerId);
    const move = (moved) => width(window.innerWidth - moved.clientX);
    bar.addEventListener("pointermove", move);
    bar.addEventListener("lostpointercapture", () => bar.removeEventListener("pointermove", move), { once: true });
  });
  bar.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: 16, ArrowRight: -16 }[event.key];
    if (!by) return;
    event.stopPropagation();
    width(document.getElementById("inspector").clientWidth + by);
  });
}

export function start() {
  splitter();
  if (new URLSearchParams(location.search).has("tab")) pane(view.tab); // a shared link opens its tab on a phone too
  select();
  phone.addEventListener("change", select);
  document.addEventListener("click", clicked);
  document.getElementById("tabs").addEventListener("keydown", arrows);
  panel.addEventListener("pointerover", ({ target }) => light(target.closest("[data-entry]")?.dataset.entry, target));
  panel.addEventListener("pointerleave", () => light(null));
  document.addEventListener("agentdash:view", () => {
    select();
    load({ keep: false });
  });
  document.addEventListener("agentdash:events", ({ detail }) => {
    if (view.turn === null && !timer && detail.some((item) => MOVES.test(item.kind))) timer = setTimeout(() => load({ keep: true }), SETTLE);
  });
  document.addEventListener("agentdash:snapshot", () => view.turn === null && load({ keep: true }));
}
