// Parts of the page that nobody sees at first: they are loaded behind the rows, or once one is wanted.
import { html, useState, useEffect } from "./html.js";
import { calmed } from "./calm.js";

let rest = null; // what rest.js exports
let loading = null;
let failed = 0; // a browser can keep that an address failed
const load = () => (loading ??= (failed ? import(`/rest.js?${failed}`) : import("./rest.js")).then((all) => (rest = all), (e) => { failed++; throw e; }).finally(() => (loading = null)));
calmed.then(load).catch(() => {}); // who wants a part is told

// later is a component of rest.js.
const later = (name) => function Later(props) {
  const [now, setNow] = useState(rest ? "there" : "coming");
  const come = () => load().then(() => setNow("there"), () => setNow("failed"));
  useEffect(() => void (now === "there" || come()), []);
  if (now === "there") return html`<${rest[name]} ...${props} />`;
  if (now === "failed") return html`<p class="warn" role="alert">This part of the page could not be loaded. Does rewind ui still run? <button onClick=${come}>Try again</button></p>`;
  return html`<p class="wait">…</p>`;
};

export const Compare = later("Compare"), Film = later("Film"), Hunt = later("Hunt"), Plan = later("Plan"), NameDialog = later("NameDialog");
export const FilePage = later("FilePage"), FilePlace = later("FilePlace"), Operations = later("Operations"), Health = later("Health"), Search = later("Search"), Keys = later("Keys"), Space = later("Space"), Attempts = later("Attempts");
