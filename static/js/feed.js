// The turn feed: follows the tail while the reader is there, and otherwise leaves everything where it is.
import { renew } from "./part.js";
import { announce, go, page, query, view } from "./state.js";
import { finish, grow } from "./typing.js";

const NEAR = 80;
const MOST_ROWS = 600;
const KEEP_ROWS = 400;
const scroll = document.getElementById("feed-scroll");
const pill = document.getElementById("jump");
const opened = new Set();
let following = true;
let unseen = new Set();

function atEnd() {
  return scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < NEAR;
}

export function toEnd() {
  scroll.scrollTop = scroll.scrollHeight;
  following = true;
  showPill(new Set());
}

function showPill(turns) {
  unseen = turns;
  pill.hidden = !turns.size;
  pill.querySelector("span").textContent = `${turns.size} new turn${turns.size === 1 ? "" : "s"}`;
}

function arrived(items) {
  if (view.turn !== null) return forget();
  finish(items);
  if (following) {
    trim();
    scroll.scrollTop = scroll.scrollHeight;
  } else {
    const turns = items.filter((item) => item.kind === "turn.answered").map((item) => item.turn);
    if (turns.length) showPill(new Set([...unseen, ...turns]));
  }
  tellOf(items);
}

function forget() {
  const rows = document.getElementById("feed-rows");
  while (rows?.children.length > 80) rows.firstElementChild.remove();
}

// What a screen reader hears: turns finished, errors, compactions. Never tokens.
function tellOf(items) {
  const newest = [...items].reverse();
  const turn = newest.find((item) => item.kind === "turn.closed");
  const edit = newest.find((item) => item.edit);
  const failed = newest.find((item) => item.kind === "compaction.failed");
  const started = newest.find((item) => item.kind === "compaction.started");
  if (edit && edit.edit.kind === "compaction") announce(`Compaction ${edit.edit.number}: ${edit.edit.before.toLocaleString("en")} to ${edit.edit.after.toLocaleString("en")} tokens`);
  else if (failed) announce("Compaction failed, window unchanged");
  else if (started) announce("Compaction started");
  else if (turn) announce(`Turn ${turn.turn} finished`);
}

// A long watch keeps the page small: the oldest rows go while the reader is at the tail; "Older" brings them back.
function trim() {
  const rows = document.getElementById("feed-rows");
  if (!rows || rows.children.length < MOST_ROWS) return;
  while (rows.children.length > KEEP_ROWS) rows.firstElementChild.remove();
  const oldest = rows.firstElementChild;
  const older = document.getElementById("older") || document.createElement("a");
  older.id = "older";
  older.className = "fr fold older";
  older.href = page.dataset.feedUrl;
  older.setAttribute("hx-get", `${page.dataset.feedUrl}?before=${oldest.dataset.seq}`);
  older.setAttribute("hx-target", "this");
  older.setAttribute("hx-swap", "outerHTML");
  older.replaceChildren(...["", "", `Older turns, before ${oldest.dataset.turn}`, "", "", "Show"].map((words) => Object.assign(document.createElement("span"), { textContent: words })));
  rows.before(older);
  for (const other of scroll.querySelectorAll(".rows:not(#feed-rows)")) other.remove();
  window.htmx.process(older);
}

function turned() {
  document.getElementById("past").hidden = view.turn === null;
  document.querySelector("#past [data-turn]").textContent = view.turn ?? "";
  document.getElementById("feed-question").textContent = view.turn === null ? "in the window?" : `in the window at ${view.turn}?`;
  return view.turn === null ? toPresent() : toPast(view.turn);
}

// What the socket brings while the present is drawn comes after it: it stands in neither the old feed nor the new one.
async function toPresent() {
  document.dispatchEvent(new CustomEvent("agentdash:hold"));
  const drawn = await renew(scroll, page.dataset.feedUrl);
  document.dispatchEvent(new CustomEvent("agentdash:release"));
  if (drawn) toEnd();
}

async function toPast(turn) {
  let unfinished = [];
  const drawn = await renew(scroll, page.dataset.feedUrl + query(["turn"]), () => (unfinished = newestTurn()));
  if (!drawn) return;
  // While the past is looked at, the present goes on out of sight: its rows need a place to land in.
  document.getElementById("feed-rows")?.append(...unfinished.filter((row) => !document.getElementById(row.id)));
  show(scroll.querySelector(`[data-turn="${turn}"]`));
}

// A row that was drawn with the feed may come over the socket once more.
function onlyNew(rows) {
  for (const row of [...rows.children]) if (row.id && document.getElementById(row.id)) row.remove();
}

function newestTurn() {
  const rows = [...(document.getElementById("feed-rows")?.children ?? [])];
  const turn = rows[rows.length - 1]?.dataset.turn;
  return rows.filter((row) => row.dataset.turn === turn);
}

export function show(row) {
  if (!row) return false;
  row.scrollIntoView({ block: "center" });
  following = atEnd();
  return true;
}

// The row of a message: here if the feed has it, else at its turn.
export function find(id, turn) {
  const row = document.getElementById(id) || scroll.querySelector(`[data-turn="${turn}"]`);
  if (show(row)) return mark(row);
  if (turn) go({ turn: Number(turn) });
}

function mark(row) {
  for (const other of scroll.querySelectorAll(".found")) other.classList.remove("found");
  row.classList.add("found");
  focusable(row).focus({ preventScroll: true });
}

function focusable(row) {
  return row.tagName === "DETAILS" ? row.firstElementChild : row;
}

export function move(by) {
  const rows = [...scroll.querySelectorAll(".rows > [id]")].filter((row) => row.id !== "newer");
  const here = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[here < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(here + by, 0), rows.length - 1)];
  if (!next) return;
  const target = focusable(next);
  target.tabIndex = -1;
  target.focus();
}

// One stop in the tab order: J and K move inside.
function oneStop(scope) {
  for (const summary of scope.querySelectorAll?.("summary.fr:not([tabindex])") ?? []) summary.tabIndex = -1;
}

export function start() {
  scroll.addEventListener("scroll", () => {
    following = atEnd();
    if (following && unseen.size) showPill(new Set());
  }, { passive: true });
  pill.addEventListener("click", toEnd);
  document.addEventListener("agentdash:events", ({ detail }) => arrived(detail));
  document.addEventListener("agentdash:snapshot", () => following && toEnd());
  document.addEventListener("agentdash:delta", ({ detail }) => {
    if (view.turn !== null) return;
    grow(detail, () => following && (scroll.scrollTop = scroll.scrollHeight));
  });
  document.addEventListener("agentdash:view", ({ detail }) => detail.turned && turned());
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-live]")) return;
    event.preventDefault();
    go({ turn: null });
  });
  // A row that is open stays open when its newer self takes its place.
  document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
    if (detail.target.id === "feed-rows") onlyNew(detail.fragment);
    if (detail.target.tagName === "DETAILS" && detail.target.open) opened.add(detail.target.id);
  });
  document.addEventListener("htmx:oobAfterSwap", () => {
    for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
    opened.clear();
  });
  // Older turns come in above: what is being read stays where it is.
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (detail.target.id !== "older") return;
    const below = scroll.scrollHeight - scroll.scrollTop;
    document.addEventListener("htmx:afterSwap", () => (scroll.scrollTop = scroll.scrollHeight - below), { once: true });
  });
  document.addEventListener("htmx:load", ({ target }) => oneStop(target));
  oneStop(scroll);
  if (view.turn === null) toEnd();
  else show(scroll.querySelector(`[data-turn="${view.turn}"]`));
}
