/** A page that still makes its elements by itself. */

import { html, useLayoutEffect, useMade, useRef } from "./elements.js";

/** @param {(page: Page) => HTMLElement} make */
export function old(make) {
  return function OldPage(/** @type {PageProperties} */ properties) {
    const place = useRef(/** @type {HTMLElement | null} */ (null));
    const title = (/** @type {string} */ text) => {
      document.title = `${text} – Farhand`;
    };
    const element = useMade((signal) => make({ ...properties, signal, title }));
    useLayoutEffect(() => place.current?.replaceChildren(element), []);
    return html`<div ref=${place}></div>`;
  };
}
