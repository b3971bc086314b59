/** A question that has to be answered, or left, before one goes on. */

import { html, useLayoutEffect, useRef } from "./elements.js";
import { WorkForm } from "./pieces.js";

/** @param {DialogProperties} properties of what is open while it is drawn */
export function Dialog({ title, submit, close, children }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close(); // Which gives the focus back.
  }, []);
  return html`<dialog ref=${element} aria-label=${title} onClose=${close}>
    <${WorkForm} submit=${submit}><h2>${title}</h2>${children}<//>
  </dialog>`;
}
