// What the llm is writing now: deltas become one growing row, painted at most ten times a second, gone when the turn lands.
const EVERY = 100;
const SHOWN = 4000;
const CSS = { thinking: "thinking", tool_use: "asking" };

let turn = 0;
let blocks = new Map();
let timer = 0;

export function grow(delta, painted) {
  if (delta.turn !== turn) {
    turn = delta.turn;
    blocks = new Map();
  }
  const known = blocks.get(delta.block) || { type: delta.block_type || "text", text: "" };
  // A delta that was lost on the way leaves a gap; one that comes twice is laid over itself.
  const before = delta.offset <= known.text.length ? known.text.slice(0, delta.offset) : known.text.padEnd(delta.offset - 1) + "…";
  blocks.set(delta.block, { ...known, text: before + delta.text });
  if (!timer) timer = setTimeout(() => paint(painted), EVERY);
}

export function finish(items) {
  const ends = items.filter((item) => item.kind === "turn.answered" || item.kind === "turn.lost");
  if (!ends.some((item) => item.turn >= turn)) return;
  blocks = new Map();
  document.getElementById("typing")?.replaceChildren();
}

function paint(painted) {
  timer = 0;
  const home = document.getElementById("typing");
  if (!home || !blocks.size) return;
  const shown = [...blocks.entries()].sort(([a], [b]) => a - b);
  while (home.children.length > shown.length) home.lastElementChild.remove();
  shown.forEach(([, block], at) => {
    const row = home.children[at] || home.appendChild(make(at));
    const said = row.querySelector(".said");
    said.className = `said ${CSS[block.type] || ""}`;
    const heard = block.text.replace(/^ +(?=…)/, ""); // who came in the middle sees that something is missing, not a gap
    const text = heard.length > SHOWN ? `…${heard.slice(-SHOWN)}` : heard;
    const words = said.firstChild;
    if (words.data !== text) words.data = text;
    row.querySelector(".caret").hidden = at < shown.length - 1;
  });
  painted();
}

function make(at) {
  const row = document.createElement("div");
  row.className = "fr";
  const number = Object.assign(document.createElement("span"), { className: "t", textContent: at ? "" : String(turn) });
  const kind = document.querySelector("#typing-icon")?.content.firstElementChild.cloneNode(true) ?? document.createElement("span");
  const entry = Object.assign(document.createElement("span"), { className: "entry" });
  const said = Object.assign(document.createElement("span"), { className: "said" });
  said.append(document.createTextNode(""), Object.assign(document.createElement("i"), { className: "caret" }));
  entry.append(said);
  const end = Object.assign(document.createElement("span"), { className: "tagcell" });
  row.append(number, kind, entry, document.createElement("span"), document.createElement("span"), end);
  return row;
}
