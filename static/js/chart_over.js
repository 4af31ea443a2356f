// What lies over the chart's canvas as HTML, because it is read or clicked: flags, glyphs, thresholds' names, the axis.
import { dollars, kilo, percent, place } from "./chart_data.js";

const GLYPHS = { clearing: ["broom", "old results cleared"], offload: ["box", "result offloaded"], said: ["person", "a person's message"] };
const MERGE = 10;
const COUNTED = 26;
const FLAG_ROOM = 136;
const MIN_ROOM = 26;
const RANGE_ROOM = 62;
const TICK_ROOM = 56;

export class Over {
  constructor(plot, { icons, compactions, pick }) {
    this.root = make("div", "layer");
    this.icons = icons;
    this.compactions = compactions;
    this.edges = make("div");
    this.flags = make("div");
    this.glyphs = make("div");
    this.strip = make("div", "strip");
    this.done = make("i");
    this.strip.append(this.done);
    this.ticks = make("div");
    this.handle = make("button", "handle");
    this.handle.type = "button";
    this.handle.tabIndex = -1;
    this.handle.setAttribute("aria-hidden", "true");
    this.points = make("span", "points");
    this.card = make("dl", "card");
    this.card.hidden = true;
    for (const group of [this.edges, this.flags, this.glyphs, this.ticks]) group.style.inset = "0";
    this.root.append(this.edges, this.strip, this.ticks, this.glyphs, this.flags, this.handle, this.points, this.card);
    plot.append(this.root);
    this.drag(pick);
  }

  drag(pick) {
    this.handle.addEventListener("pointerdown", (event) => {
      this.handle.setPointerCapture(event.pointerId);
      const move = (moved) => pick(moved.clientX - this.root.getBoundingClientRect().left);
      this.handle.addEventListener("pointermove", move);
      this.handle.addEventListener("lostpointercapture", () => this.handle.removeEventListener("pointermove", move), { once: true });
    });
  }

  layout(u, model) {
    const box = { left: u.over.offsetLeft, top: u.over.offsetTop, width: u.over.offsetWidth, height: u.over.offsetHeight };
    const x = (turn) => box.left + u.valToPos(turn, "x");
    const y = (tokens) => box.top + u.valToPos(tokens, "y");
    this.named(model, box, y);
    this.flagged(model, x);
    this.marked(model, box, x);
    this.axis(u, model, box, x);
  }

  named({ data, unit }, box, y) {
    const lines = unit === "cost" || !data.limit ? [] : [{ key: "limit", label: `limit ${kilo(data.limit)}`, at: data.limit }, ...[...data.marks].reverse()];
    let above = -Infinity;
    this.edges.replaceChildren(...lines.map((mark) => {
      const name = make("span", `edge ${mark.key}`, mark.label);
      above = Math.max(y(mark.at), above + 14); // names of near lines make room for each other
      put(name, box.left + box.width + 8, above);
      return name;
    }));
  }

  flagged({ data }, x) {
    const folds = data.edits.filter((edit) => edit.kind === "compaction" || edit.kind === "clear");
    const groups = grouped(folds, folds.map((edit) => x(place(data, edit))));
    this.flags.replaceChildren(...groups.map(({ edit, last, left }, at) => {
      const flag = make("a", `flag ${edit.kind}`);
      flag.href = `${this.compactions}${edit.edit}/`;
      const name = edit.kind === "clear" ? "Clear" : `Compaction ${edit.number}`;
      flag.title = `${name}, turn ${edit.turn}: ${kilo(edit.before)} → ${kilo(edit.after)}`;
      flag.setAttribute("aria-label", flag.title);
      flag.tabIndex = -1; // the chart is one stop; [ and ] go from fold to fold, and the feed links to each
      const number = edit.kind === "clear" ? "C" : String(edit.number);
      flag.append(make("b", "", last === edit ? number : `${number}–${last.number || "C"}`));
      if (last === edit) flag.append(make("span", "", `${kilo(edit.before)} → ${kilo(edit.after)}`));
      else flag.title = `${name} and the ones that follow it, up to ${last.number || "a clear"}`;
      if ((groups[at + 1]?.left ?? this.root.clientWidth) - left < FLAG_ROOM) flag.classList.add("short");
      put(flag, left, 1);
      return flag;
    }));
  }

  marked({ data }, box, x) {
    const all = data.edits.filter((edit) => GLYPHS[edit.kind]).map((edit) => ({ kind: edit.kind, turn: edit.turn, x: x(edit.turn) }));
    all.push(...data.said.map((turn) => ({ kind: "said", turn, x: x(Math.max(turn, 0.6)) })));
    const merged = [];
    for (const mark of all.sort((a, b) => a.x - b.x)) {
      const before = merged[merged.length - 1];
      if (before && mark.x - before.x < (before.more.length ? COUNTED : MERGE)) before.more.push(mark);
      else merged.push({ ...mark, more: [] });
    }
    this.glyphs.replaceChildren(...merged.map((mark) => {
      const [symbol] = GLYPHS[mark.kind];
      const glyph = make("span", `glyph ${mark.kind}`);
      glyph.append(icon(this.icons, symbol));
      if (mark.more.length) glyph.append(make("small", "", String(mark.more.length + 1)));
      glyph.title = [mark, ...mark.more].map((one) => `Turn ${one.turn}: ${GLYPHS[one.kind][1]}`).join("\n");
      put(glyph, mark.x, box.top + box.height + 3);
      return glyph;
    }));
  }

  axis(u, { data, turn, projected }, box, x) {
    const narrow = this.root.clientHeight - box.top - box.height < 30; // a phone: the numbers alone
    const top = box.top + box.height + (narrow ? 1 : 17);
    this.strip.hidden = narrow;
    const end = data.turns[data.turns.length - 1] || 0;
    put(this.strip, box.left, top);
    this.strip.style.width = `${box.width}px`;
    this.done.style.width = `${Math.max(0, x(end + 0.5) - box.left)}px`;
    this.points.hidden = data.turns.length >= data.total;
    this.points.textContent = `in ${data.turns.length} points`;
    this.points.title = `${data.total.toLocaleString("en")} turns in ${data.turns.length} points, peaks kept`;
    put(this.points, box.left + box.width + 8, top);
    const shown = turn ?? end;
    this.handle.hidden = !end;
    this.handle.textContent = String(shown);
    put(this.handle, x(shown), top - 1);
    const step = nice((u.scales.x.max - u.scales.x.min) / Math.max(2, box.width / TICK_ROOM));
    const wanted = [1, ...Array.from({ length: Math.floor(end / step) }, (_, at) => (at + 1) * step)];
    const ticks = wanted.filter((tick) => Math.abs(x(tick) - x(shown)) > 26 && (tick === 1 || tick >= step / 2)).map((tick) => [tick, String(tick)]);
    if (turn !== null && Math.abs(x(end) - x(turn)) > 40) ticks.push([end, String(end)]);
    if (projected && projected.turn <= u.scales.x.max && x(projected.turn) - x(end) > 44) ticks.push([projected.turn, `≈${projected.turn}`]);
    this.ticks.replaceChildren(...spaced(ticks, x).map(([tick, words]) => {
      const label = make("span", "at", words);
      put(label, Math.max(x(tick), box.left + 6), top);
      return label;
    }));
  }

  // Beside the column, never over the live edge or the thresholds' names.
  hover(u, { data, hover }) {
    const at = hover === null ? -1 : data.turns.indexOf(hover);
    this.card.hidden = at < 0;
    if (at < 0) return;
    const added = at ? data.window[at] - data.window[at - 1] : data.window[at];
    const rows = [[`Turn ${hover}`, kilo(data.window[at])], ["added", `${added < 0 ? "−" : "+"}${Math.abs(added).toLocaleString("en")}`], ["from cache", percent(data.cache[at])], ["cost", dollars(data.cost[at])]];
    this.card.replaceChildren(...rows.flatMap(([name, value], row) => [row ? make("dt", "", name) : bold(name), make("dd", "", value)]), ...(data.misses[hover] ? [make("dd", "why", `Cache fell: ${data.misses[hover]}`)] : []));
    const column = u.over.offsetLeft + u.valToPos(hover, "x");
    const width = this.card.offsetWidth;
    const right = column + 12 + width < u.over.offsetLeft + u.over.offsetWidth - 8;
    put(this.card, right ? column + 12 : column - width - 12, u.over.offsetTop + 6);
  }
}

// Flags that would cover each other are one: where the first of them stands, with the numbers of first and last.
function grouped(folds, places) {
  const groups = [];
  folds.forEach((edit, at) => {
    const open = groups[groups.length - 1];
    const room = open && open.last !== open.edit ? RANGE_ROOM : MIN_ROOM;
    if (open && places[at] - open.left < room) open.last = edit;
    else groups.push({ edit, last: edit, left: places[at] });
  });
  return groups;
}

function spaced(ticks, x) {
  const kept = [];
  for (const tick of ticks.sort((a, b) => a[0] - b[0])) {
    if (!kept.length || x(tick[0]) - x(kept[kept.length - 1][0]) > 30) kept.push(tick);
  }
  return kept;
}

function nice(raw) {
  const power = 10 ** Math.floor(Math.log10(Math.max(raw, 1)));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= raw) || power * 10;
}

function make(name, css = "", words = "") {
  const element = document.createElement(name);
  if (css) element.className = css;
  if (words) element.textContent = words;
  return element;
}

function bold(words) {
  const name = make("dt");
  name.append(make("b", "", words));
  return name;
}

function icon(sprite, name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "i sm");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `${sprite}#${name}`);
  svg.append(use);
  return svg;
}

function put(element, left, top) {
  element.style.left = `${left.toFixed(1)}px`;
  element.style.top = `${top.toFixed(1)}px`;
}
