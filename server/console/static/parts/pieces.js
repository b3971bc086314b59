/** Small parts that several pages have: fields, buttons that are busy, commands to copy, empty places. */

import { nameOf, wordsOf } from "../server/api.js";
import { html, useId, useRef, useState } from "./elements.js";
import { toast } from "./toasts.js";

/**
 * A label with the field that it names, which `make(id)` draws.
 * @param {{label: string, make: (id: string) => unknown, inline?: boolean}} properties
 */
export function Field({ label, make, inline }) {
  const id = useId();
  return html`<div class=${inline ? "field inline" : "field"}><label for=${id}>${label}</label>${make(id)}</div>`;
}

/**
 * A button that is busy while its work is under way, and says what went wrong.
 * @param {{work: () => Promise<unknown>, class?: string, children: unknown}} properties
 */
export function WorkButton({ work, children, ...rest }) {
  const [isBusy, setBusy] = useState(false);
  /** @param {Event} event */
  async function click({ currentTarget }) {
    const hadFocus = document.activeElement === currentTarget;
    setBusy(true);
    try {
      await work();
    } catch (error) {
      if (nameOf(error) !== "AbortError") toast(wordsOf(error), "bad");
    } finally {
      setBusy(false);
      // A button that is disabled loses the focus.
      if (hadFocus) requestAnimationFrame(() => refocus(currentTarget));
    }
  }
  return html`<button type="button" disabled=${isBusy} onClick=${click} ...${rest}>${children}</button>`;
}

/** @param {EventTarget | null} target */
function refocus(target) {
  if (document.activeElement === document.body && target instanceof HTMLElement) target.focus({ preventScroll: true });
}

/**
 * A command to be run elsewhere, with a button that copies it.
 * @param {{text: string}} properties
 */
export function CommandLine({ text }) {
  const [said, say] = useState("Copy");
  const code = useRef(/** @type {HTMLElement | null} */ (null));
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      say("Copied");
    } catch {
      // Without https there is no clipboard: then it is selected, ready for Ctrl+C.
      if (code.current) getSelection()?.selectAllChildren(code.current);
      say("Press Ctrl+C");
    }
    setTimeout(() => say("Copy"), 2000);
  }
  return html`<div class="command">
    <code tabindex="0" ref=${code}>${text}</code>
    <button type="button" class="quiet" onClick=${copy}>${said}</button>
  </div>`;
}

/**
 * What to show where there is nothing yet: what that means, and the next step.
 * @param {{title: string, children?: unknown}} properties
 */
export function EmptyState({ title, children }) {
  return html`<section class="empty"><h2>${title}</h2>${children}</section>`;
}

/**
 * Filters that leave nothing, why if that is known, and the way out.
 * @param {{what: string, clear: () => void, children?: unknown}} properties
 */
export function NothingFits({ what, clear, children }) {
  return html`<${EmptyState} title="Nothing fits">
    <p>No ${what} fits all of these filters.</p>
    ${children}
    <button type="button" onClick=${clear}>Clear the filters</button>
  <//>`;
}

/**
 * A page for an address that leads to nothing, or to what belongs to somebody else.
 * @param {{what: string, back: string, name: string}} properties
 */
export function NotFound({ what, back, name }) {
  return html`<section class="empty">
    <h1>Not found</h1>
    <p>There is no ${what} with this address in your organization.</p>
    <p><a href=${back}>Back to ${name}</a></p>
  </section>`;
}

/**
 * An error in the place of what could not be shown, with a way to try again.
 * @param {{error: unknown, again?: () => unknown}} properties
 */
export function Failure({ error, again }) {
  return html`<section class="empty" role="alert">
    <h2>This could not be read</h2>
    <p>${wordsOf(error)}</p>
    ${again && html`<button type="button" onClick=${() => void again()}>Try again</button>`}
  </section>`;
}
