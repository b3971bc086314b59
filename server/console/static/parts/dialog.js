/** A question that has to be answered, or left, before one goes on. */

import { html, useLayoutEffect, useRef } from "./elements.js";
import { WorkForm } from "./pieces.js";

/**
 * Open while it is drawn; `submit(values)` is called with what was filled in, and `close()` when it is
 * left, with Escape too.
 * @param {{title: string, submit: (values: FormData) => unknown, close: () => void, children: unknown}} properties
 */
export function Dialog({ title, submit, close, children }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // Which gives the focus back.
    return () => dialog?.close();
  }, []);
  return html`<dialog ref=${element} aria-label=${title} onClose=${close}>
    <${WorkForm} submit=${submit}><h2>${title}</h2>${children}<//>
  </dialog>`;
}
