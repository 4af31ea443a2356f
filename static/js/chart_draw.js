// What goes onto the chart's canvas: bars or areas, thresholds, flag poles, the projection, the selected turn.
import { BARS, PARTS, indexOf, place } from "./chart_data.js";

const COLOURS = { line: "--line", limit: "--t-limit", compact: "--t-compact", clear: "--t-clear", summary: "--c-summary", focus: "--focus", surface: "--surface", fg: "--fg", soft: "--fg-2", faint: "--fg-3", stubs: "--c-stubs" };
const POLE_ROOM = 8;
const MANY = 80;
const DASHES = { clear: [2, 3], hard: [5, 4] };

// The palette as the canvas needs it: resolved, because a canvas knows neither variables nor light-dark().
export function palette() {
  const probe = document.createElement("i");
  probe.hidden = true;
  document.body.append(probe);
  const read = (name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const found = Object.fromEntries(Object.entries(COLOURS).map(([key, name]) => [key, read(name)]));
  for (const part of PARTS) found[part] = read(`--c-${part}`);
  probe.remove();
  return { ...found, hatch: hatch(found.stubs) };
}

function hatch(colour) {
  const size = Math.round(4 * devicePixelRatio);
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const ctx = tile.getContext("2d");
  ctx.strokeStyle = colour;
  ctx.lineWidth = size / 3;
  for (const shift of [-size, 0, size]) {
    ctx.beginPath();
    ctx.moveTo(shift, size);
    ctx.lineTo(shift + size, 0);
    ctx.stroke();
  }
  return ctx.createPattern(tile, "repeat");
}

export function draw(u, model) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, 0, bbox.width, bbox.top + bbox.height);
  ctx.clip();
  if (model.unit === "cost") costs(u, model);
  else if (model.data.turns.length > BARS) areas(u, model);
  else bars(u, model);
  later(u, model);
  if (model.unit !== "cost") {
    thresholds(u, model);
    ahead(u, model);
  }
  poles(u, model);
  chosen(u, model);
  ctx.restore();
}

function span(u, turn) {
  const left = u.valToPos(turn - 0.5, "x", true);
  const right = u.valToPos(turn + 0.5, "x", true);
  const gap = right - left > 3 * devicePixelRatio ? Math.min(Math.max(devicePixelRatio, (right - left) * 0.2), 4 * devicePixelRatio) : 0;
  return [left + gap / 2, Math.max(right - left - gap, 1)];
}

// One path a part for all turns: ten fills a frame, however many bars.
function bars(u, { data, colours }) {
  const { ctx } = u;
  const floors = data.turns.map(() => 0);
  for (const part of PARTS) {
    const path = new Path2D();
    data.turns.forEach((turn, at) => {
      const value = data.parts[part][at];
      if (!value) return;
      const [x, width] = span(u, turn);
      const bottom = u.valToPos(floors[at], "y", true);
      floors[at] += value;
      const top = u.valToPos(floors[at], "y", true);
      const seam = bottom - top >= 3 * devicePixelRatio && part !== "system" ? devicePixelRatio * 0.75 : 0;
      path.rect(x, top, width, bottom - top - seam);
    });
    ctx.fillStyle = part === "stubs" ? colours.hatch : colours[part];
    ctx.fill(path);
  }
}

function areas(u, { data, colours }) {
  const { ctx } = u;
  const xs = data.turns.map((turn) => u.valToPos(turn, "x", true));
  let floors = data.turns.map(() => 0);
  for (const part of PARTS) {
    const tops = floors.map((floor, at) => floor + data.parts[part][at]);
    const path = new Path2D();
    xs.forEach((x, at) => path[at ? "lineTo" : "moveTo"](x, u.valToPos(tops[at], "y", true)));
    for (let at = xs.length - 1; at >= 0; at -= 1) path.lineTo(xs[at], u.valToPos(floors[at], "y", true));
    path.closePath();
    ctx.fillStyle = part === "stubs" ? colours.hatch : colours[part];
    ctx.fill(path);
    floors = tops;
  }
}

function costs(u, { data, colours }) {
  const { ctx } = u;
  const base = u.valToPos(0, "y", true);
  const turns = new Path2D();
  data.turns.forEach((turn, at) => {
    const [x, width] = span(u, turn);
    const top = u.valToPos(data.cost[at], "y", true);
    turns.rect(x, top, width, base - top);
  });
  ctx.fillStyle = colours.faint;
  ctx.fill(turns);
  const folds = new Path2D();
  for (const edit of data.edits.filter((known) => known.cost)) {
    const [x, width] = span(u, place(data, edit));
    const top = u.valToPos(edit.cost, "y", true);
    folds.rect(x, top, Math.max(width, 3 * devicePixelRatio), base - top);
  }
  ctx.fillStyle = colours.summary;
  ctx.fill(folds);
}

// What came after the turn looked at drops to 30 %.
function later(u, { turn, colours }) {
  if (turn === null) return;
  const { ctx, bbox } = u;
  const x = u.valToPos(turn + 0.5, "x", true);
  ctx.globalAlpha = 0.7;
  ctx.fillStyle = colours.surface;
  ctx.fillRect(x, bbox.top, bbox.left + bbox.width - x, bbox.height);
  ctx.globalAlpha = 1;
}

function thresholds(u, { data, colours }) {
  const { ctx, bbox } = u;
  const rule = (tokens, colour, dash, width) => {
    const y = Math.round(u.valToPos(tokens, "y", true)) + 0.5;
    ctx.strokeStyle = colour;
    ctx.lineWidth = width * devicePixelRatio;
    ctx.setLineDash(dash.map((length) => length * devicePixelRatio));
    line(ctx, bbox.left, y, bbox.left + bbox.width, y);
    ctx.setLineDash([]);
  };
  for (const mark of data.marks) rule(mark.at, mark.key === "compact" ? colours.compact : colours.clear, DASHES[mark.key] || [], mark.key === "compact" ? 1.25 : 1);
  if (data.limit) rule(data.limit, colours.limit, [], 1.25);
}

function ahead(u, { data, colours, projected }) {
  if (!projected) return;
  const { ctx } = u;
  const end = data.turns.length - 1;
  const from = [u.valToPos(data.turns[end] + 0.4, "x", true), u.valToPos(data.window[end], "y", true)];
  const to = [u.valToPos(projected.turn, "x", true), u.valToPos(projected.tokens, "y", true)];
  ctx.strokeStyle = colours.soft;
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  line(ctx, ...from, ...to);
  ctx.setLineDash([]);
  ctx.beginPath();
  ctx.arc(...to, 3 * devicePixelRatio, 0, 2 * Math.PI);
  ctx.fillStyle = colours.surface;
  ctx.fill();
  ctx.stroke();
}

function poles(u, { data, colours }) {
  const { ctx, bbox } = u;
  ctx.lineWidth = 1.5 * devicePixelRatio;
  let drawn = -Infinity;
  ctx.globalAlpha = data.edits.length > MANY ? 0.45 : 1;
  for (const edit of data.edits) {
    if (edit.kind !== "compaction" && edit.kind !== "clear") continue;
    const x = u.valToPos(place(data, edit), "x", true);
    if (x - drawn < POLE_ROOM * devicePixelRatio) continue; // a fence of poles would hide what it stands for
    drawn = x;
    ctx.strokeStyle = edit.kind === "clear" ? colours.faint : colours.summary;
    line(ctx, x, 10 * devicePixelRatio, x, bbox.top + bbox.height);
  }
  ctx.globalAlpha = 1;
}

function chosen(u, { data, turn, hover, unit, live, colours }) {
  const { ctx, bbox } = u;
  const base = bbox.top + bbox.height;
  if (hover !== null) {
    const [x, width] = span(u, hover);
    ctx.globalAlpha = 0.12;
    ctx.fillStyle = colours.fg;
    ctx.fillRect(x, bbox.top, width, bbox.height);
    ctx.globalAlpha = 1;
  }
  const at = turn === null ? (live ? data.turns.length - 1 : -1) : indexOf(data, turn);
  if (at < 0) return;
  const [x, width] = span(u, data.turns[at]);
  const value = unit === "cost" ? data.cost[at] : data.window[at];
  const top = u.valToPos(value, "y", true);
  ctx.strokeStyle = colours.focus;
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.strokeRect(x - devicePixelRatio, top - devicePixelRatio, width + 2 * devicePixelRatio, base - top + devicePixelRatio);
}

function line(ctx, x1, y1, x2, y2) {
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
  ctx.stroke();
}
