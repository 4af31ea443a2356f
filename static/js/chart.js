// The context chart: window by turn, stacked by the ten parts. uPlot keeps scales, axis and cursor.
import { add, addEdit, domainEnd, empty, indexOf, kilo, load, percent, projection } from "./chart_data.js";
import { draw, palette } from "./chart_draw.js";
import { Over } from "./chart_over.js";
import { renew } from "./part.js";
import { go, last, over, page, view } from "./state.js";

const plot = document.getElementById("plot");
const legend = document.getElementById("legend");
const readout = document.getElementById("readout-turn");
const phone = matchMedia("(max-width: 760px)");
const model = { data: empty(), unit: "tokens", turn: view.turn, hover: null, live: true, projected: null, colours: palette() };
let chart = null;
let layer = null;
let tableTimer = 0;

function top() {
  if (model.unit === "cost") return Math.max(...model.data.cost, ...model.data.edits.map((edit) => edit.cost), 0.001) * 1.1;
  return Math.max(model.data.limit, ...model.data.window, 1) * 1.07;
}

function label(value) {
  if (model.unit === "cost") return `$${Number(value.toFixed(4))}`;
  return model.unit === "share" ? `${Math.round((value / (model.data.limit || 1)) * 100)} %` : kilo(value);
}

function options() {
  const colour = (name) => model.colours[name];
  const font = `11px ${getComputedStyle(document.body).fontFamily}`;
  const small = phone.matches;
  return {
    width: plot.clientWidth,
    height: plot.clientHeight,
    padding: [small ? 20 : 22, small ? 8 : 96, small ? 16 : 34, small ? 4 : 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: { x: { time: false, range: () => [0.4, domainEnd(model.data, model.projected)] }, y: { range: () => [0, top()] } },
    series: [{}, { paths: () => null, points: { show: false } }],
    axes: [
      { show: false },
      { show: !small, size: 40, gap: 6, font, stroke: () => colour("faint"), space: 36, ticks: { show: false }, grid: { stroke: () => colour("line"), width: 1 }, splits: splits, values: (u, values) => values.map(label) },
    ],
    hooks: { draw: [(u) => draw(u, model)], setCursor: [hovered] },
  };
}

function splits(u, axis, low, high, step) {
  if (model.unit === "share") return [0, 0.25, 0.5, 0.75].map((share) => share * model.data.limit);
  const most = model.unit === "tokens" && model.data.limit ? model.data.limit * 0.9 : high;
  const found = [];
  for (let value = 0; value <= most; value += step) found.push(value);
  return found;
}

function build() {
  chart?.destroy();
  plot.querySelector(".layer")?.remove();
  chart = new window.uPlot(options(), [model.data.turns, model.data.window], plot);
  chart.root.setAttribute("role", "img");
  chart.root.setAttribute("aria-label", plot.dataset.summary);
  const icons = document.querySelector(".chart-head use").getAttribute("href").split("#")[0];
  layer = new Over(plot, { icons, compactions: page.dataset.compactionUrl, pick: (x) => pick(turnAt(x - chart.over.offsetLeft)) });
  chart.over.addEventListener("click", () => model.hover !== null && pick(model.hover));
  chart.over.addEventListener("pointerleave", () => hover(null));
  redraw();
}

function redraw() {
  if (!chart) return;
  model.live = !over();
  model.projected = model.live && model.unit !== "cost" ? projection(model.data) : null;
  document.getElementById("plot-empty").hidden = model.data.turns.length > 0;
  chart.setData([model.data.turns, model.data.window]);
  settle();
  read();
}

// uPlot takes its new scales in a microtask of its own; what lies over the canvas follows it.
function settle() {
  queueMicrotask(() => {
    layer.layout(chart, model);
    layer.hover(chart, model);
  });
}

function turnAt(x) {
  const { turns } = model.data;
  const at = indexOf(model.data, Math.round(chart.posToVal(x, "x")));
  return at < 0 ? null : turns[at];
}

function hovered(u) {
  const { left } = u.cursor;
  hover(left === undefined || left < 0 ? null : turnAt(left));
}

function hover(turn) {
  if (turn === model.hover) return;
  model.hover = turn;
  chart.redraw(false);
  layer.hover(chart, model);
  read();
}

function pick(turn) {
  if (turn !== null && turn !== view.turn) go({ turn: turn >= last() ? null : turn }, { replace: view.turn !== null });
}

// The legend is the readout: values of the hovered, else the selected, else the newest turn.
function read() {
  const { data } = model;
  const turn = model.hover ?? model.turn ?? data.turns[data.turns.length - 1];
  const at = data.turns.length ? data.turns.indexOf(turn) : -1;
  readout.textContent = turn ? `Turn ${turn}` : "No turn yet";
  for (const item of legend.children) {
    const value = at < 0 ? null : data.parts[item.dataset.part][at];
    item.classList.toggle("none", unused(item.dataset.part));
    item.lastElementChild.textContent = value === null || value === undefined ? "" : model.unit === "share" && data.limit ? percent(value / data.limit) : kilo(value);
  }
}

// Parts that this run has never had take no room in the legend.
function unused(part) {
  return model.data.turns.length > 0 && !model.data.parts[part].some((tokens) => tokens > 0);
}

async function refresh() {
  model.data = await load(page.dataset.chartUrl);
  redraw();
}

function setUnit(unit) {
  model.unit = unit;
  for (const button of document.querySelectorAll("[data-unit]")) button.setAttribute("aria-pressed", String(button.dataset.unit === unit));
  redraw();
}

export function toggleTable() {
  const table = document.getElementById("chart-table");
  const shows = table.hidden;
  table.hidden = !shows;
  plot.hidden = shows;
  document.querySelector("[data-as-table]").setAttribute("aria-pressed", String(shows));
  if (shows) loadTable();
}

function loadTable() {
  clearTimeout(tableTimer);
  renew(document.getElementById("chart-table"), page.dataset.tableUrl);
}

// One turn to the left or right of the one looked at, or the next fold in a direction.
export function step(by) {
  const turn = (view.turn ?? last()) + by;
  if (turn >= 1) go({ turn: turn >= last() ? null : turn }, { replace: view.turn !== null });
}

export function jumpToFold(by) {
  const here = view.turn ?? last();
  const folds = model.data.edits.filter((edit) => edit.kind === "compaction" || edit.kind === "clear").map((edit) => edit.turn);
  const next = by > 0 ? folds.find((turn) => turn > here) : folds.reverse().find((turn) => turn < here);
  if (next) go({ turn: next });
}

export async function start() {
  build();
  new ResizeObserver(() => {
    if (!plot.clientWidth) return;
    chart.setSize({ width: plot.clientWidth, height: plot.clientHeight });
    settle();
  }).observe(plot);
  phone.addEventListener("change", build);
  document.addEventListener("agentdash:view", () => {
    model.turn = view.turn;
    redraw();
  });
  document.addEventListener("agentdash:point", ({ detail }) => {
    if (add(model.data, detail)) redraw();
    else refresh();
    if (!document.getElementById("chart-table").hidden) tableTimer = setTimeout(loadTable, 500);
  });
  document.addEventListener("agentdash:events", ({ detail }) => {
    const edits = detail.filter((item) => item.edit);
    for (const item of edits) addEdit(model.data, item.edit);
    for (const item of detail) if (item.kind === "person.said") model.data.said.push(item.turn);
    if (edits.length || detail.some((item) => item.kind === "run.state" || item.kind === "person.said")) redraw();
  });
  document.addEventListener("agentdash:snapshot", refresh);
  const repaint = () => {
    model.colours = palette();
    build();
  };
  document.addEventListener("agentdash:theme", repaint);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  document.addEventListener("click", (event) => {
    const unit = event.target.closest("[data-unit]");
    if (unit) setUnit(unit.dataset.unit);
    if (event.target.closest("[data-as-table]")) toggleTable();
  });
  await refresh();
}
