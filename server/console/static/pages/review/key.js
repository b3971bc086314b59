import { html } from "../../parts/elements.js";

/** @param {{name: string}} properties of a key, for the eye: whoever hears the page is told of it by aria-keyshortcuts */
export const Key = ({ name }) => html`<kbd aria-hidden="true">${name}</kbd>`;
