/**
 * Builds elements.  Whatever is put in as text stays text: nothing in the console parses markup.
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element with attributes and children.  An attribute whose value is a function listens to the
 * event of that name; false, null and undefined leave it out.  Children are nodes, texts, arrays.
 */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same in SVG. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, value === true ? "" : value);
  }
  put(element, ...children);
  return element;
}

/** Append nodes, texts and arrays of them; null and false are nothing. */
export function put(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child);
  }
  return element;
}

/** Put these in the place of all that is there. */
export function fill(element, ...children) {
  element.replaceChildren();
  return put(element, ...children);
}

/** Change a text, only where it differs: an unchanged node costs the browser nothing. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Set or take away an attribute, only where it differs. */
export function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
  } else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/** Resolve after some milliseconds, or when the signal is aborted. */
export function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(done, milliseconds);
    function done() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
    signal?.addEventListener("abort", done);
  });
}
