/** What is said for a moment, at the edge of the page. */

import { html, Store, useStore } from "./elements.js";

const SHOWN_SECONDS = 8;
const MOST = 4;

let shown = /** @type {{text: string, kind: Kind}[]} */ ([]);
const store = new Store();

export function toast(/** @type {string} */ text, /** @type {Kind} */ kind = "info") {
  const said = { text, kind };
  shown = [...shown, said].slice(-MOST);
  store.tell();
  // What went wrong stays until it was read, or pushed out.
  if (kind !== "bad") setTimeout(() => dismiss(said), SHOWN_SECONDS * 1000);
}

function dismiss(/** @type {{text: string}} */ said) {
  shown = shown.filter((each) => each !== said);
  store.tell();
}

export function Toasts() {
  useStore(store);
  return html`<div id="notices" role="status" aria-live="polite">
    ${shown.map((said) => html`<div key=${said} class="notice" data-kind=${said.kind}>
      <span>${said.text}</span>
      <button type="button" class="quiet" aria-label="Dismiss" onClick=${() => dismiss(said)}>✕</button>
    </div>`)}
  </div>`;
}
