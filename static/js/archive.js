// Archive and model view: keys, jumping from the chart, next and previous hit, copying a request.
import { listen } from "./dialogs_keys.js";

const main = document.getElementById("main");
const lines = document.querySelector("[data-lines]");
const hits = [...document.querySelectorAll("[data-hits] .hit")];
const plot = document.querySelector("[data-plot]");

function rows() {
  return [...lines.querySelectorAll(":scope > .fr, :scope > .fr-open > summary, :scope > a.fr")];
}

// The row that the address names is marked and brought into view: of the hit, else of the turn. A hit in a tool's
// result has no row of its own: the calls of its turn open, because their bodies hold it.
function settle() {
  const asked = new URLSearchParams(location.search);
  const named = location.hash && document.getElementById(location.hash.slice(1));
  const turn = main.dataset.here && [...lines.querySelectorAll(`[data-turn="${CSS.escape(main.dataset.here)}"]`)];
  const inside = asked.has("message") ? (named ? [named] : (turn || []).filter((row) => row.querySelector("code"))) : [];
  const found = named || inside[0] || turn?.[0];
  found?.classList.add("here-turn");
  for (const row of inside) if (row.matches("details")) row.open = true;
  found?.scrollIntoView({ block: inside.length ? "start" : "center" });
  document.querySelector(".hit[aria-current]")?.scrollIntoView({ block: "nearest" });
  highlight();
}

// What was searched for stands out in the transcript, without touching the text.
function highlight() {
  const words = (new URLSearchParams(location.search).get("q") || "").match(/[\p{L}\p{N}_]+/gu);
  if (!words || !CSS.highlights) return;
  const pattern = new RegExp(words.map((word) => RegExp.escape?.(word) ?? word).join("|"), "giu");
  const found = new Highlight();
  const texts = document.createTreeWalker(lines, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    for (const match of texts.currentNode.data.matchAll(pattern)) {
      const range = new Range();
      range.setStart(texts.currentNode, match.index);
      range.setEnd(texts.currentNode, match.index + match[0].length);
      found.add(range);
    }
  }
  CSS.highlights.set("hit", found);
}

document.addEventListener("htmx:afterSettle", (event) => { if (lines?.contains(event.target)) highlight(); });

function focus(row) {
  if (!row) return;
  if (!row.matches("summary, a")) row.tabIndex = -1;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const all = rows();
  const at = all.indexOf(document.activeElement);
  if (at < 0) {
    const near = all.findIndex((row) => row.getBoundingClientRect().top >= lines.getBoundingClientRect().top);
    return focus(all[Math.max(near, 0)]);
  }
  focus(all[Math.min(Math.max(at + by, 0), all.length - 1)]);
}

function hit(by) {
  const at = hits.findIndex((link) => link.hasAttribute("aria-current"));
  hits[(at + by + hits.length) % hits.length]?.click();
}

function turnUnder(event) {
  const box = plot.querySelector(".arc-svg").getBoundingClientRect();
  const total = Number(plot.dataset.turns);
  return Math.min(Math.max(Math.ceil(((event.clientX - box.left) / box.width) * total), 1), total);
}

plot?.addEventListener("click", (event) => {
  if (event.target.closest("a")) return;
  const address = new URL(location.href);
  address.searchParams.set("turn", turnUnder(event));
  for (const name of ["page", "message"]) address.searchParams.delete(name);
  address.hash = "";
  location.assign(address);
});

// The next or previous flag from where one reads.
function compaction(by) {
  const edits = (main.dataset.edits || "").split(" ").filter(Boolean);
  const flags = [...document.querySelectorAll(".flag")];
  if (!edits.length || !flags.length) return;
  const cuts = [...lines.querySelectorAll(".fr.cut")];
  const top = lines.getBoundingClientRect().top;
  const ahead = cuts.filter((row) => (by > 0 ? row.getBoundingClientRect().top > top + 40 : row.getBoundingClientRect().top < top - 4));
  const next = by > 0 ? ahead[0] : ahead.at(-1);
  if (next) return next.scrollIntoView({ block: "start" });
  document.querySelector(by > 0 ? ".pager a[rel=next]" : ".pager a[rel=prev]")?.click();
}

function model() {
  location.assign(`${main.dataset.modelUrl}?turn=${main.dataset.turn}`);
}

const go = (address) => address && location.assign(address);
listen({
  j: () => step(1),
  k: () => step(-1),
  n: () => hits.length && hit(1),
  N: () => hits.length && hit(-1),
  "[": () => compaction(-1),
  "]": () => compaction(1),
  m: model,
  g: () => document.getElementById("jump-turn")?.select(),
  "/": () => document.querySelector("[data-find]")?.select(),
  ArrowLeft: () => go(main.dataset.before),
  ArrowRight: () => go(main.dataset.after),
  Escape: () => go(main.dataset.runUrl),
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const answer = await fetch(button.dataset.copy);
  await copy(await answer.text());
  button.lastChild.textContent = "Copied";
});

// Over plain http from another machine there is no navigator.clipboard.
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = Object.assign(document.createElement("textarea"), { value: text });
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

if (lines) settle();
