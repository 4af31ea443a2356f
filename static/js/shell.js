// What every page has: the theme switch, the search key, the shared dialog, times in the reader's zone.
const root = document.documentElement;

function theme() {
  return root.dataset.theme || (matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark");
}

function switchTheme() {
  root.dataset.theme = theme() === "dark" ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
  document.dispatchEvent(new CustomEvent("agentdash:theme"));
}

function openDialog(dialog) {
  dialog.opener = document.activeElement;
  if (!dialog.open) dialog.showModal();
  dialog.querySelector("[autofocus]")?.focus();
}

function closeDialog(dialog) {
  if (dialog.open) dialog.close();
}

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-theme-switch]")) switchTheme();
  const closer = event.target.closest("[data-close]");
  if (closer) closeDialog(closer.closest("dialog"));
  if (event.target.tagName === "DIALOG") closeDialog(event.target); // a click on the backdrop
});

document.addEventListener("close", (event) => {
  if (event.target.tagName === "DIALOG") event.target.opener?.focus?.();
}, true);

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    document.querySelector(".topbar .find input")?.focus();
  }
});

// A fragment that lands in the shared dialog opens it; an answer without a body closes it.
document.addEventListener("htmx:afterSwap", (event) => {
  const dialog = event.target;
  if (dialog.id !== "dialog") return;
  dialog.children.length ? openDialog(dialog) : closeDialog(dialog);
});

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function localTimes(scope = document) {
  for (const time of scope.querySelectorAll("time[datetime]:not([title])")) {
    const moment = new Date(time.dateTime);
    if (!Number.isNaN(moment.getTime())) time.title = clock.format(moment);
  }
}

localTimes();
document.addEventListener("htmx:load", (event) => localTimes(event.target));
