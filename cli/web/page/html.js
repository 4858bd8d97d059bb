// What all parts of the page draw with.
import { h, render, Fragment } from "./vendor/preact.js";
import htm from "./vendor/htm.js";
export { render, Fragment };
export { useState, useEffect, useRef, useMemo, useCallback, useLayoutEffect } from "./vendor/hooks.js";
export const html = htm.bind(h);
