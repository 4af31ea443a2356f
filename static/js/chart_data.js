// The chart's columns: fetched once, then grown by the points and edits that the socket brings.
export const PARTS = ["system", "tools", "memory", "notes", "episodes", "person", "assistant", "thinking", "results", "stubs"];
export const BARS = 200;
const LOOK_BACK = 12;

export function empty() {
  return { total: 0, limit: 0, marks: [], turns: [], parts: Object.fromEntries(PARTS.map((part) => [part, []])), window: [], cost: [], cache: [], misses: {}, estimated: [], edits: [], said: [], labels: {} };
}

export async function load(url) {
  const answer = await fetch(url, { headers: { Accept: "application/json" }, credentials: "same-origin" });
  if (!answer.ok) throw new Error(`chart data: ${answer.status}`);
  return answer.json();
}

// Add or replace one turn. False when turns are missing between: then the whole must be fetched anew.
export function add(data, point) {
  const at = data.turns.lastIndexOf(point.turn);
  const end = data.turns.length ? data.turns[data.turns.length - 1] : 0;
  if (at < 0 && point.turn > end + 1 && data.total >= end) return false;
  const place = at < 0 ? data.turns.length : at;
  data.turns[place] = point.turn;
  for (const part of PARTS) data.parts[part][place] = point.parts[part] || 0;
  data.window[place] = point.window ?? PARTS.reduce((sum, part) => sum + (point.parts[part] || 0), 0);
  data.cost[place] = point.cost ?? 0;
  data.cache[place] = point.cache ?? null;
  if (point.miss) data.misses[point.turn] = point.miss;
  data.total = Math.max(data.total, point.turn);
  if (point.limit) data.limit = point.limit;
  if (point.marks) data.marks = point.marks;
  const guess = data.estimated.indexOf(point.turn);
  if (point.estimated && guess < 0) data.estimated.push(point.turn);
  if (!point.estimated && guess >= 0) data.estimated.splice(guess, 1);
  return true;
}

export function addEdit(data, edit) {
  if (data.edits.every((known) => known.edit !== edit.edit)) data.edits.push(edit);
}

export function indexOf(data, turn) {
  let low = 0;
  let high = data.turns.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (data.turns[middle] <= turn) low = middle;
    else high = middle - 1;
  }
  return data.turns.length ? low : -1;
}

// On which side of its turn's bar an edit stands: where the bar it found full ends.
export function place(data, edit) {
  const own = data.turns.indexOf(edit.turn);
  const before = data.turns.indexOf(edit.turn - 1);
  if (own < 0) return edit.turn - 0.5;
  if (before < 0) return edit.turn + 0.5;
  const far = (at) => Math.abs(data.window[at] - edit.before);
  return far(own) <= far(before) ? edit.turn + 0.5 : edit.turn - 0.5;
}

// Where the window will meet the next mark if it goes on growing as it did: {turn, tokens}, or null.
export function projection(data) {
  const mark = data.marks.find((known) => known.key !== "hard");
  const end = data.window.length - 1;
  if (!mark || end < 2 || data.window[end] >= mark.at) return null;
  const steps = [];
  for (let at = Math.max(1, end - LOOK_BACK + 1); at <= end; at += 1) {
    const grown = (data.window[at] - data.window[at - 1]) / (data.turns[at] - data.turns[at - 1]);
    if (grown > 0) steps.push(grown);
  }
  if (!steps.length) return null;
  steps.sort((a, b) => a - b);
  const middle = steps.length / 2;
  const step = steps.length % 2 ? steps[Math.floor(middle)] : (steps[middle - 1] + steps[middle]) / 2;
  return { turn: data.turns[end] + Math.max(1, Math.round((mark.at - data.window[end]) / step)), tokens: mark.at };
}

// The last turn the x axis has room for: what is there, and a little of what is to come.
export function domainEnd(data, ahead) {
  const end = data.turns[data.turns.length - 1] || 0;
  const room = Math.max(end * 1.05 + 1, 24);
  return ahead ? Math.min(Math.max(room, ahead.turn + Math.max(2, end * 0.04)), Math.max(end * 1.35, 32)) : room;
}

export function kilo(value) {
  if (value === null || value === undefined) return "unknown";
  for (const [size, unit] of [[1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(value) >= size) return `${(value / size).toFixed(1).replace(/\.0$/, "")}${unit}`;
  }
  return String(Math.round(value));
}

export function dollars(value) {
  const places = Math.abs(value) >= 1 || value === 0 ? 2 : Math.abs(value) >= 0.01 ? 3 : 4;
  return `$${value.toFixed(places)}`;
}

export function percent(share) {
  return share === null || share === undefined ? "unknown" : `${Math.round(share * 100)} %`;
}
