/** What pages are made of: Preact's elements, written with htm, and what parts of them remember. */

import htm from "../vendor/htm.js";
import { useEffect, useLayoutEffect, useMemo, useState } from "../vendor/hooks.js";
import { h } from "../vendor/preact.js";

export { useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
export { cloneElement, Component, createContext, render } from "../vendor/preact.js";

/** Elements as a template: html`<b class=${kind}>${text}</b>`.  Texts stay texts, whatever is in them. */
export const html = htm.bind(h);

/** Something that changes: `tell()` says so to whoever draws it, once for each picture of the browser. */
export class Store extends EventTarget {
  #telling = 0;

  tell() {
    this.#telling ||= requestAnimationFrame(() => this.tellNow());
  }

  tellNow() {
    cancelAnimationFrame(this.#telling);
    this.#telling = 0;
    this.dispatchEvent(new Event("change"));
  }
}

/** @template {EventTarget} Kind @param {Kind} store for whose changes the part is drawn anew */
export function useStore(store, type = "change") {
  const [, draw] = useState(0);
  useEffect(() => {
    const changed = () => draw((count) => count + 1);
    store.addEventListener(type, changed);
    // What changed before anybody listened.
    changed();
    return () => store.removeEventListener(type, changed);
  }, [store]);
  return store;
}

/** @template Made @param {(signal: AbortSignal) => Made} make once for a part and a key: the signal is aborted with either */
export function useMade(make, key = "") {
  const [made, ending] = useMemo(() => {
    const controller = new AbortController();
    return /** @type {const} */ ([make(controller.signal), controller]);
  }, [key]);
  // At once: what is left must not go on, nor be forgotten where a part comes and goes in one moment.
  useLayoutEffect(() => () => ending.abort(), [key]);
  return made;
}

/** @type {(take: (value: string) => unknown) => (event: {currentTarget: HTMLInputElement | HTMLSelectElement}) => unknown} */
export const valueTo = (take) => ({ currentTarget }) => take(currentTarget.value);

/** @param {string} text of the window, beside the console's own name */
export function useTitle(text) {
  useEffect(() => {
    document.title = text === "Farhand" ? text : `${text} – Farhand`;
  }, [text]);
}
