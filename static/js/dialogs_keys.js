// Single keys of the pages beside the run page: the list of them, the switch that turns them off, and who listens.
const list = document.getElementById("page-keys");
const enabled = list?.querySelector("input");

function inField(target) {
  return target.matches("input:not([type=checkbox]):not([type=radio]):not([type=range]), textarea, select");
}

export function show() {
  if (!list) return;
  list.opener = document.activeElement;
  list.showModal();
}

// `acts` by key; Escape leaves a field first and works even when the others are off.
export function listen(acts) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (inField(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const act = event.key === "?" ? show : acts[event.key] || acts[event.key.toLowerCase()];
    if (!act || (event.key !== "Escape" && enabled && !enabled.checked)) return;
    event.preventDefault();
    act();
  });
}

if (enabled) {
  enabled.checked = localStorage.getItem("keys") !== "off";
  enabled.addEventListener("change", () => localStorage.setItem("keys", enabled.checked ? "on" : "off"));
}
document.addEventListener("click", (event) => event.target.closest("[data-keys]") && show());
