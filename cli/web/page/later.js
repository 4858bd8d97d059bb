// Parts of the page that nobody sees at first: they are loaded behind the rows, or once one is wanted.
import { html, useState, useEffect } from "./html.js";
import { calmed } from "./calm.js";

let rest = null; // what rest.js exports
let loading = null;
const load = () => (loading ??= import("./rest.js").then((all) => (rest = all), () => (loading = null)));
calmed.then(load);

// later is a component of rest.js.
const later = (name) => function Later(props) {
  const [there, setThere] = useState(rest !== null);
  useEffect(() => void (there || load().then(() => setThere(rest !== null))), []);
  return there ? html`<${rest[name]} ...${props} />` : html`<p class="wait">…</p>`;
};

export const Compare = later("Compare"), Film = later("Film"), Hunt = later("Hunt"), Plan = later("Plan"), NameDialog = later("NameDialog");
export const FilePage = later("FilePage"), Operations = later("Operations"), Health = later("Health"), Search = later("Search"), Keys = later("Keys");
