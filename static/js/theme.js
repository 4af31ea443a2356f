// Runs before the first paint, so a chosen theme never flashes the other one. ?theme= is for pictures and links.
(() => {
  const root = document.documentElement;
  const asked = new URLSearchParams(location.search).get("theme");
  const chosen = asked || localStorage.getItem("theme");
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
})();
