// The run page. Each part listens for itself; what they share is the view in state.js and the socket's events.
import * as asking from "./asking.js";
import * as banners from "./banners.js";
import * as chart from "./chart.js";
import * as feed from "./feed.js";
import * as inspector from "./inspector.js";
import * as keys from "./keys.js";
import * as steer from "./steer.js";

asking.start();
banners.start();
feed.start();
inspector.start();
steer.start();
keys.start();
chart.start();
