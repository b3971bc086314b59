/** The part of the address behind the #: a page of the console, and what is chosen on it. */

import { useEffect, useRef, useState } from "./elements.js";

const TYPING_MILLISECONDS = 250;

/** The page's path, empty where none is named, and what follows its question mark. */
export function place() {
  const [path = "", query] = location.hash.replace(/^#/, "").split("?");
  return { path, query: new URLSearchParams(query) };
}

/** @type {Map<string, string>} the addresses that pages had last, with what was chosen there, by their paths */
const latest = new Map();

/** @param {string} path of a page: the way back to it, as it was left */
export const backTo = (path) => latest.get(path) ?? `#${path}`;

/** @type {(path: string, values: Record<string, string>) => void} let the page's address tell what is chosen; empty values are left out */
export function keepChosen(path, values) {
  // Whoever has just gone elsewhere stays there: the page learns of it a moment later.
  if (place().path !== path) return;
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value));
  const address = query.size ? `#${path}?${query}` : `#${path}`;
  latest.set(path, address);
  history.replaceState(history.state, "", address);
}

/**
 * What is chosen on the page with this path, which its address tells and begins with, but for what is as usual.
 * @template {Record<string, string>} Chosen @param {string} path @param {Chosen} usual @returns {[Chosen, (change: Partial<Chosen>) => void]}
 */
export function useChosen(path, usual) {
  const [chosen, set] = useState(() => {
    latest.set(path, location.hash);
    const said = [...place().query].filter(([name]) => Object.hasOwn(usual, name));
    return { ...usual, ...Object.fromEntries(said) };
  });
  const current = useRef(chosen);
  function choose(/** @type {Partial<Chosen>} */ change) {
    current.current = { ...current.current, ...change };
    const said = Object.entries(current.current).filter(([name, value]) => value !== usual[name]);
    keepChosen(path, Object.fromEntries(said));
    set(current.current);
  }
  return [chosen, choose];
}

/** @template Chosen @param {Chosen} chosen once nothing more was typed for a moment */
export function useSettled(chosen) {
  const [settled, settle] = useState(chosen);
  useEffect(() => {
    const timer = setTimeout(() => settle(chosen), TYPING_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [chosen]);
  return settled;
}

let keeping = 0;
/** How far down one had read when one left this page, until one is there again. */
let left = 0;

/** Remember how far down one has read, for the way back. */
export function rememberPlace() {
  history.scrollRestoration = "manual";
  const arrive = () => {
    clearTimeout(keeping);
    left = /** @type {{y?: number} | null} */ (history.state)?.y ?? 0;
  };
  addEventListener("hashchange", arrive);
  addEventListener("scroll", () => {
    clearTimeout(keeping);
    const { path } = place();
    // One may be on the way back by then: there it is another place.
    keeping = setTimeout(() => place().path === path && history.replaceState({ y: scrollY }, ""), 100);
  });
  arrive();
}

/** How far down one had read here, in pixels; 0 where one comes for the first time, or is there again. */
export const rememberedPlace = () => left;

/** Go there. */
export function returnToPlace() {
  scrollTo(0, left);
  left = 0;
}
