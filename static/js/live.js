// The run page's line to the server: what happened since event `seq`, in order, nothing twice.
//
// The page carries the number of the last event it shows: <main id="run" data-run="r-xxxxx" data-seq="812">.
// Whatever happens to the connection, the page greets with that number and gets what it lacks.
//
// Told on document:
//   agentdash:events    detail = items, after their fragments are in the page
//   agentdash:point     detail = one chart point
//   agentdash:delta     detail = {turn, block, offset, text, block_type}
//   agentdash:snapshot  detail = {seq}: the page was drawn anew
//   agentdash:live      detail = {state: "live" | "reconnecting" | "stale", missed, why}
// Heard on document:
//   agentdash:hold      what comes now waits: the feed is being drawn anew, and would lose it
//   agentdash:release   the feed is drawn

const PING = 10_000;
const STALE = 30_000;
const FIRST_WAIT = 500;
const LAST_WAIT = 15_000;
const ANEW = -1;
const FINAL = { 4401: "logged out", 4404: "no such run" };
const LANDED = new Set(["turn.answered", "turn.closed"]);

class Line {
  constructor(page) {
    this.page = page;
    this.run = page.dataset.run;
    this.seq = Number(page.dataset.seq);
    this.landed = 0;
    this.missed = 0;
    this.wait = FIRST_WAIT;
    this.state = "";
    this.holds = 0;
    this.held = [];
  }

  open() {
    clearTimeout(this.timer);
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/ws/runs/${this.run}/`);
    this.socket = socket;
    this.heardAt = Date.now();
    this.missed = 0;
    socket.addEventListener("open", () => this.greet(this.seq));
    socket.addEventListener("message", (message) => this.socket === socket && this.hear(JSON.parse(message.data)));
    socket.addEventListener("close", (closed) => this.socket === socket && this.lost(closed.code));
  }

  greet(seq) {
    this.say({ t: "hello", seq });
    this.say({ t: "ping" }); // answered when everything up to now was sent
  }

  say(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  lost(code) {
    this.socket = null;
    if (FINAL[code]) return this.become("stale", FINAL[code]);
    this.become("reconnecting");
    const wait = FIRST_WAIT + Math.random() * (this.wait - FIRST_WAIT);
    this.wait = Math.min(this.wait * 2, LAST_WAIT);
    this.timer = setTimeout(() => this.open(), wait);
  }

  again() {
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    this.wait = FIRST_WAIT;
    this.open();
  }

  hear(message) {
    this.heardAt = Date.now();
    if (this.holds) this.held.push(message);
    else this.do(message);
  }

  release() {
    this.holds -= 1;
    while (!this.holds && this.held.length) this.do(this.held.shift());
  }

  do(message) {
    if (message.t === "events") this.take(message.items);
    else if (message.t === "delta") this.type(message);
    else if (message.t === "snapshot") this.redraw(message);
    else if (message.t === "resync") this.greet(ANEW);
  }

  take(items) {
    if (!items.length) return this.upToDate();
    const fresh = [];
    for (const item of items) {
      if (item.seq <= this.seq) continue;
      if (item.seq > this.seq + 1) {
        this.say({ t: "hello", seq: this.seq }); // something is missing between: ask again from here
        break;
      }
      this.seq = item.seq;
      if (LANDED.has(item.kind)) this.landed = Math.max(this.landed, item.turn);
      fresh.push(item);
    }
    if (fresh.length) this.show(fresh);
  }

  show(items) {
    this.missed += items.length;
    this.page.dataset.seq = this.seq;
    put(items.map((item) => item.html ?? "").join(""));
    for (const item of items) if (item.point) tell("point", item.point);
    tell("events", items);
    if (this.state === "live") this.missed = 0;
  }

  redraw({ seq, html }) {
    this.missed += Math.max(seq - this.seq, 0);
    this.seq = seq;
    this.page.dataset.seq = seq;
    put(html);
    tell("snapshot", { seq });
  }

  type(delta) {
    if (delta.turn > this.landed) tell("delta", delta);
  }

  upToDate() {
    this.wait = FIRST_WAIT;
    this.say({ t: "ack", seq: this.seq });
    this.become("live");
    this.missed = 0;
  }

  become(state, why = "") {
    if (state === this.state) return;
    this.state = state;
    tell("live", { state, missed: this.missed, why });
  }

  tick() {
    if (!this.socket) return;
    if (Date.now() - this.heardAt > STALE) {
      this.become("stale");
      this.again();
    } else {
      this.say({ t: "ping" });
    }
  }
}

function put(html) {
  if (html) window.htmx.swap(document.body, html, { swapStyle: "none" });
}

function tell(name, detail) {
  document.dispatchEvent(new CustomEvent(`agentdash:${name}`, { detail }));
}

const page = document.getElementById("run");
if (page?.dataset.run) {
  const line = new Line(page);
  line.open();
  setInterval(() => line.tick(), PING);
  document.addEventListener("agentdash:hold", () => (line.holds += 1));
  document.addEventListener("agentdash:release", () => line.release());
  window.addEventListener("online", () => line.again());
  window.addEventListener("offline", () => line.become("reconnecting"));
  window.addEventListener("pageshow", (shown) => shown.persisted && line.again());
  window.addEventListener("pagehide", () => line.socket?.close());
}
