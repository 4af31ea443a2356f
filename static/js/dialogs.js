// Dialogs: refused forms show their reasons, and the estimate follows every change at once (all of them came with the form).
const HOMES = "#dialog, .dialog-page";

document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, target } = event.detail;
  if (xhr.status !== 422 && xhr.status !== 409) return;
  if (!target?.matches(HOMES)) return;
  event.detail.shouldSwap = true;
  event.detail.isError = false;
});

document.addEventListener("click", (event) => {
  const closer = event.target.closest("a[data-close]");
  if (closer?.closest("dialog")) event.preventDefault();
});

document.addEventListener("keydown", (event) => {
  if (!event.ctrlKey || event.key !== "Enter") return;
  event.target.closest("form[data-compact]")?.querySelector("[data-submit]").click();
});

document.addEventListener("submit", (event) => {
  const button = event.target.querySelector("[data-submit]");
  if (button) button.setAttribute("aria-busy", "true");
});

// Each row of the table is one combination in words; nothing is worked out here but where lines go.
function show(form) {
  const table = JSON.parse(form.dataset.table);
  const method = form.elements.method.value;
  const keep = form.elements.keep.value;
  const row = table.rows[`${method}-${keep}`];
  const words = { ...row, keep: `${keep} ${method === "clear" ? "results" : "messages"}` };
  for (const slot of form.querySelectorAll("[data-slot]")) slot.textContent = words[slot.dataset.slot] ?? "";
  for (const mark of form.querySelectorAll("[data-after-of]")) {
    mark.textContent = `→ ${table.rows[`${mark.dataset.afterOf}-${keep}`].after}`;
  }
  const rects = form.querySelectorAll("[data-gauge=after] [data-part]");
  row.parts.forEach(([x, width], at) => { rects[at].setAttribute("x", x); rects[at].setAttribute("width", width); });
  form.elements.instructions.disabled = method === "clear";
  const submit = form.querySelector("[data-submit]");
  submit.disabled = !row.possible;
  submit.title = row.possible ? "" : "The window would not get smaller: keep less, or come back when it is fuller.";
  draw(form.querySelector("[data-chart]"), row.line, table.turn);
}

// The two running costs: reading the whole window each turn, or paying once and reading what is left.
function draw(svg, [spent, saves, turns, base], turn) {
  const span = Math.max(Math.ceil(turns * 2.5), 20);
  const top = Math.max((base + saves) * span, spent + base * span, 1);
  const x = (at) => (346 * at) / span;
  const y = (cost) => 130 - (112 * cost) / top;
  const cross = saves > 0 ? spent / saves : 0;
  const never = !(saves > 0 && cross <= span);
  const meet = y((base + saves) * cross);
  const ends = { leave: y((base + saves) * span), compact: y(spent + base * span) };
  const set = (selector, values) => Object.entries(values).forEach(([name, value]) => svg.querySelector(selector).setAttribute(name, value));
  for (const part of [svg, svg.previousElementSibling]) part.hidden = !(base + saves);
  svg.toggleAttribute("hidden", !(base + saves));
  svg.classList.toggle("never", never);
  set(".leave", { points: `0,130 346,${ends.leave}` });
  set(".compact", { points: `0,130 2,${y(spent)} 346,${ends.compact}` });
  set(".saved", { points: never ? "" : `${x(cross)},${meet} 346,${ends.leave} 346,${ends.compact}` });
  set("line.at", { x1: x(cross), x2: x(cross), y1: meet });
  set("circle.at", { cx: x(cross), cy: meet });
  set("[data-at]", { x: Math.min(Math.max(x(cross), 60), 290) });
  set("[data-leave-label]", { y: Math.max(ends.leave - 6, 9) });
  set("[data-compact-label]", { y: Math.min(ends.compact + 16, 128) });
  set("[data-saved-label]", { y: (ends.leave + ends.compact) / 2 + 4 });
  svg.querySelector("[data-saved-label]").toggleAttribute("hidden", ends.compact - ends.leave < 34);
  svg.querySelector("[data-at]").textContent = (turn + turns).toLocaleString("en");
  svg.querySelector("[data-end]").textContent = (turn + span).toLocaleString("en");
}

// Only what a rehearsal needs is asked for.
function fit(form) {
  const rehearsal = form.elements.llm.value.trim().startsWith("rehearsal");
  for (const part of form.querySelectorAll("[data-real]")) part.hidden = rehearsal;
  for (const part of form.querySelectorAll("[data-rehearsal]")) part.hidden = !rehearsal;
}

function settle(scope) {
  for (const form of scope.querySelectorAll("form[data-compact]")) show(form);
  for (const form of scope.querySelectorAll("form[data-new-run-form]")) fit(form);
  scope.querySelector("[aria-invalid]")?.focus();
}

document.addEventListener("input", (event) => {
  const weigh = event.target.closest("form[data-compact]");
  if (weigh && event.target.name !== "instructions") show(weigh);
  const start = event.target.closest("form[data-new-run-form]");
  if (start && event.target.name === "llm") fit(start);
});

document.addEventListener("htmx:afterSwap", (event) => { if (event.target.matches?.(HOMES)) settle(event.target); });
settle(document);
