// A part of the page, fetched anew. Of several requests for the same place only the newest counts, whichever answer
// comes last: who presses Home and End in one breath ends up where End leads.
const newest = new Map();

// True when the answer stands in the page. `before` is called just before the old content goes.
export async function renew(place, url, before = () => {}) {
  const number = (newest.get(place) ?? 0) + 1;
  newest.set(place, number);
  const answer = await fetch(url, { credentials: "same-origin", headers: { "HX-Request": "true" } }).catch(() => null);
  const html = await answer?.text();
  if (!answer?.ok || newest.get(place) !== number) return false;
  before();
  window.htmx.swap(place, html, { swapStyle: "innerHTML" });
  return true;
}
