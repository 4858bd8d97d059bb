// When there is time for what nobody waits for.
import { useState, useEffect } from "./html.js";

// painted runs f once what was drawn is on the screen, or a while later where nothing is painted, as in a tab behind others.
export function painted(f) {
  const once = () => {
    clearTimeout(late);
    f && f();
    f = null;
  };
  const late = setTimeout(once, 300);
  requestAnimationFrame(() => setTimeout(once));
}

// Who opens the page waits for its rows: the rest begins behind them, or after LATE.
const LATE = 3000; // ms
let is = false;
export let calm; // says that all rows are there
export const calmed = new Promise((done) => {
  setTimeout(done, LATE);
  calm = () => painted(done);
});
calmed.then(() => (is = true));
export const isCalm = () => is;

// useCalm tells whether it is so.
export function useCalm() {
  const [now, set] = useState(is);
  useEffect(() => void (now || calmed.then(() => set(true))), []);
  return now;
}
