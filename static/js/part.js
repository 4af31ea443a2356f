// A part of the page, fetched anew. Of several requests for the same place only the newest counts, whichever answer
// comes last: who presses Home and End in one breath ends up where End leads.
const newest = new Map();

const LONGEST = 15_000;

// True when the answer stands in the page. `before` is called just before the old content goes.
export async function renew(place, url, before = () => {}) {
  const number = (newest.get(place) ?? 0) + 1;
  newest.set(place, number);
  const signal = AbortSignal.timeout(LONGEST);
  const answer = await fetch(url, { credentials: "same-origin", headers: { "HX-Request": "true" }, signal }).catch(() => null);
  const html = await answer?.text().catch(() => null);
  if (!answer?.ok || html === null || newest.get(place) !== number) return false;
  before();
  window.htmx.swap(place, html, { swapStyle: "innerHTML" });
  return true;
}
