/** Buttons with a count each, of which one at most is chosen: what is shown is narrowed to that. */

import { html } from "./elements.js";
import { StateShape } from "./states.js";

/** @param {ChipsProperties} properties: the empty value is all; what is chosen already is left by choosing it again */
export const Chips = ({ label, chips, chosen, choose }) => html`<div class="chips" role="group" aria-label=${label}>
  ${chips.map(({ value, word, count }) => html`<button
    key=${value} type="button" class="chip" data-state=${value} data-none=${count === 0 || null}
    aria-pressed=${String(chosen === value)} onClick=${() => choose(chosen === value ? "" : value)}
  >${value && html`<${StateShape} state=${value} />`}<b>${count}</b> ${word}</button>`)}
</div>`;
