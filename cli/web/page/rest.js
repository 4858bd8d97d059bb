// What is opened after the timeline: later.js loads it.
export { Compare } from "./compare.js";
export { Film } from "./film.js";
export { Hunt } from "./hunt.js";
export { Plan, NameDialog } from "./plan.js";
export { FilePlace } from "./files.js";
export { FilePage, Operations, Health, Search, Keys } from "./places.js";
export { Space, Attempts } from "./usage.js";
