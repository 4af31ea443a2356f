// Where the reader is: the turn looked at, the tab, the sort. It lives in the address, so a copied link opens the same.
export const page = document.getElementById("run");

const asked = new URLSearchParams(location.search);
export const view = {
  turn: page.dataset.past ? Number(page.dataset.past) : null,
  tab: page.dataset.tab,
  sort: asked.get("sort") || "order",
  log: asked.get("log") || "all",
};

const DEFAULTS = { turn: null, tab: "window", sort: "order", log: "all" };

export function last() {
  return Number(document.getElementById("vitals").dataset.turn) || 0;
}

export function over() {
  return ["done", "failed", "stopped"].includes(document.getElementById("vitals").dataset.state);
}

export function query(keys = Object.keys(DEFAULTS)) {
  const parts = new URLSearchParams();
  for (const key of keys) if (view[key] !== DEFAULTS[key]) parts.set(key, view[key]);
  const words = parts.toString();
  return words ? `?${words}` : "";
}

// A change of the view: the address first, then whoever listens. `replace` for what is no place to go back to.
export function go(changes, { replace = false } = {}) {
  const before = { ...view };
  Object.assign(view, changes);
  if (view.turn !== null && (view.turn >= last() || view.turn < 1)) view.turn = null;
  if (Object.keys(DEFAULTS).every((key) => before[key] === view[key])) return;
  const theme = new URLSearchParams(location.search).get("theme");
  const words = query() + (theme ? `${query() ? "&" : "?"}theme=${theme}` : "");
  history[replace ? "replaceState" : "pushState"]({}, "", location.pathname + words);
  tell(before);
}

function tell(before) {
  if (view.turn === null) delete page.dataset.past;
  else page.dataset.past = view.turn;
  page.dataset.tab = view.tab;
  document.dispatchEvent(new CustomEvent("agentdash:view", { detail: { before, turned: before.turn !== view.turn } }));
}

window.addEventListener("popstate", () => {
  const before = { ...view };
  const now = new URLSearchParams(location.search);
  for (const [key, value] of Object.entries(DEFAULTS)) view[key] = now.get(key) ?? value;
  view.turn = now.get("turn") ? Number(now.get("turn")) : null;
  tell(before);
});

export function announce(words) {
  document.getElementById("announce").textContent = words;
}
