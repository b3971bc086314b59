/** What narrows a list: fields, and buttons with a count each, of which one at most is chosen. */

import { html, valueTo } from "./elements.js";
import { Field } from "./pieces.js";
import { StateShape } from "./states.js";

const LONGEST = 2000;

/** @template {string} Name @param {FiltersProperties<Name>} properties of a field for each filter, with what is `chosen` */
export function Filters({ filters, chosen, choose }) {
  const fieldOf = (/** @type {Filter<Name>} */ { name, options, type = "search", hint }) => {
    const value = chosen[name];
    const change = valueTo((text) => choose({ [name]: text }));
    if (!options)
      return html`<input type=${type} placeholder=${hint} maxlength=${LONGEST} dir="auto" value=${value} onInput=${change} />`;
    // What the address says is chosen, whatever it is.
    const all = options.some(([known]) => known === value) ? options : [...options, [value, value]];
    return html`<select value=${value} onChange=${change}>
      ${all.map(([each, text]) => html`<option key=${each} value=${each}>${text}</option>`)}
    </select>`;
  };
  return html`<form class="filters" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    ${filters.map((filter) => html`<${Field} key=${filter.name} label=${filter.label}>${fieldOf(filter)}<//>`)}
  </form>`;
}

/** @param {ChipsProperties} properties: the empty value is all; what is chosen already is left by choosing it again */
export const Chips = ({ label, chips, chosen, choose }) => html`<div class="chips" role="group" aria-label=${label}>
  ${chips.map(({ value, word, count }) => html`<button
    key=${value} type="button" class="chip" data-state=${value} data-none=${count === 0 || null}
    aria-pressed=${String(chosen === value)} onClick=${() => choose(chosen === value ? "" : value)}
  >${value && html`<${StateShape} state=${value} />`}<b>${count}</b> ${word}</button>`)}
</div>`;
