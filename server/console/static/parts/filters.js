/** What narrows a list: fields, and buttons with a count each, of which one at most is chosen. */

import { html, valueTo } from "./elements.js";
import { Field } from "./pieces.js";
import { StateShape } from "./states.js";
import { number } from "./words.js";

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
export function Chips({ label, chips, chosen, choose, several }) {
  const all = chosen ? valuesOf(chosen) : [""];
  const others = (/** @type {string} */ value) => (several && value ? all.filter((each) => each && each !== value) : []);
  const click = (/** @type {string} */ value) => choose([...others(value), ...(all.includes(value) ? [] : [value])].join(","));
  return html`<div class="chips" role="group" aria-label=${label}>
    ${chips.map(({ value, word, count, isState }) => html`<button
      key=${value} type="button" class="chip" data-state=${isState ? value : null} data-none=${count === 0 || null}
      aria-pressed=${String(all.includes(value))} dir="auto" onClick=${() => click(value)}
    >${isState && value && html`<${StateShape} state=${value} />`}<b>${number(count)}</b> ${word}</button>`)}
  </div>`;
}

/** @param {string} text with several values of one filter, as the address has them */
export const valuesOf = (text) => text.split(",").map((each) => each.trim()).filter(Boolean);
