/** To point at what a halted step is to be done to: on the picture, or in a list of what programs tell of. */

import { html, useMade, useState } from "../../parts/elements.js";
import { Field, WorkButton } from "../../parts/pieces.js";
import { meantOf } from "../../screen/inspecting.js";
import { get, path, query, wordsOf } from "../../server/api.js";

const MOST_ELEMENTS = 500;

/** @typedef {{place: Place, element: DesktopElement | null}} Pointed */

/** @type {(element: DesktopElement) => string} */
export const nameOfElement = ({ role, name }) => (name ? `${role} “${name}”` : role);

/** @type {(elements: DesktopElement[], place: Place) => Pointed} what is at a place, as far as programs tell of it */
export function pointedAt(elements, place) {
  const there = elements.filter(({ bounds }) => bounds && isIn(bounds, place));
  return { place, element: meantOf(there.toSorted((one, other) => other.depth - one.depth)) };
}

/** @type {(bounds: Place & Size, place: Place) => boolean} */
const isIn = ({ x, y, width, height }, place) => place.x >= x && place.y >= y && place.x < x + width && place.y < y + height;

/** @type {(bounds: Place & Size) => Place} */
export const middleOf = ({ x, y, width, height }) => ({ x: Math.floor(x + width / 2), y: Math.floor(y + height / 2) });

/** @param {string | null} machine @returns {{elements: DesktopElement[], words: string}} what the machine's programs tell of now, and why they do not */
export function useElements(machine) {
  const [told, learn] = useState({ elements: /** @type {DesktopElement[]} */ ([]), words: "" });
  useMade((signal) => {
    const address = query(path`v1/computer/${machine ?? ""}/elements`, { limit: MOST_ELEMENTS });
    const reading = /** @type {Promise<{items: DesktopElement[]}>} */ (get(address, signal));
    reading.then(({ items }) => learn({ elements: items, words: "" }), (/** @type {unknown} */ error) => learn({ elements: [], words: wordsOf(error) }));
  });
  return told;
}

/** @param {PointingProperties} properties of what is said of it: the list, what is chosen, and the button that has the step done there */
export function Pointing({ elements, words, pointed, point, goOn }) {
  const named = elements.filter(({ name, bounds, role }) => name && bounds && role !== "label" && role !== "frame");
  const chosen = pointed?.element ? named.findIndex(({ ref }) => ref === pointed.element?.ref) : -1;
  function choose(/** @type {Event} */ event) {
    const element = named[Number(/** @type {HTMLSelectElement} */ (event.currentTarget).value)];
    if (element?.bounds) point({ place: middleOf(element.bounds), element });
  }
  return html`<div class="pointing">
    <p>Click on what the step is to be done to, in the picture of the screen${named.length > 0 && ", or choose it"}. The run looks for it there, and a new version of the trajectory is proposed.</p>
    ${words && html`<p class="small" role="status">${words}</p>`}
    ${named.length > 0 && html`<${Field} label="What is on the screen"><select name="element" value=${String(chosen)} onChange=${choose}>
      <option value="-1">Choose one</option>
      ${named.map((each, at) => html`<option key=${each.ref} value=${at}>${nameOfElement(each)}</option>`)}
    </select><//>`}
    ${pointed && html`<div class="row">
      <p role="status" dir="auto">${pointed.element ? nameOfElement(pointed.element) : `The place ${pointed.place.x}, ${pointed.place.y}`}</p>
      <${WorkButton} class="primary" work=${() => goOn(bodyOf(pointed))}>Do it here<//>
    </div>`}
  </div>`;
}

/** @type {(pointed: Pointed) => object} */
const bodyOf = ({ place, element }) => (element ? { element: element.selector } : { place });
