/**
 * Builds elements.  Whatever is put in as text stays text: nothing in the console parses markup.
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element with attributes and children.  An attribute whose value is a function listens to the
 * event of that name; false, null and undefined leave it out.  Children are nodes, texts, arrays.
 * @type {Make<HTMLElementTagNameMap>}
 */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * The same in SVG.
 * @type {Make<SVGElementTagNameMap>}
 */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** @type {<Filled extends Element>(element: Filled, attributes: Attributes, children: Child[]) => Filled} */
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, /** @type {EventListener} */ (value));
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, value === true ? "" : String(value));
  }
  put(element, ...children);
  return element;
}

/**
 * Append nodes, texts and arrays of them; null and false are nothing.
 * @type {(element: Element, ...children: Child[]) => void}
 */
export function put(element, ...children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) put(element, ...child);
    else element.append(child);
  }
}

/**
 * Put these in the place of all that is there.
 * @type {(element: Element, ...children: Child[]) => void}
 */
export function fill(element, ...children) {
  element.replaceChildren();
  put(element, ...children);
}

/**
 * An element that the page has from its beginning.
 * @param {string} id
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no element "${id}".`);
  return element;
}

/**
 * Change a text, only where it differs: an unchanged node costs the browser nothing.
 * @type {(element: Node, text: string) => void}
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Set or take away an attribute, only where it differs.
 * @type {(element: Element, name: string, value: string | boolean | null | undefined) => void}
 */
export function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
  } else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}

/**
 * Resolve after some milliseconds, or when the signal is aborted.
 * @type {(milliseconds: number, signal?: AbortSignal) => Promise<void>}
 */
export function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const timer = setTimeout(done, milliseconds);
    function done() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
    signal?.addEventListener("abort", done);
  });
}
