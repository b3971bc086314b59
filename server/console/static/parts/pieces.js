/** Small parts that several pages have: fields, buttons that are busy, questions, commands to copy, empty places. */

import { HOME, nameOf, Problem, wordsOf } from "../server/api.js";
import { cloneElement, createContext, html, useContext, useEffect, useId, useLayoutEffect, useRef, useState } from "./elements.js";
import { toast } from "./toasts.js";

const NOTHING_WRONG = /** @type {Record<string, string>} */ ({});

/** What the server said was wrong with the fields of the form around, by their names. */
const Wrong = createContext(NOTHING_WRONG);

/** @param {string} name of a field @returns what was wrong with it, if anything */
export const useWrong = (name) => useContext(Wrong)[name];

/** @param {FieldProperties} properties of a label, and within it the field that it names; what was wrong with it stands below */
export function Field({ label, children, inline }) {
  const id = useId();
  const wrong = useWrong(String(children.props.name));
  const said = wrong ? { "aria-invalid": "true", "aria-describedby": `${id}-wrong` } : {};
  return html`<div class=${inline ? "field inline" : "field"}>
    <label for=${id}>${label}</label>${cloneElement(children, { id, ...said })}
    ${wrong && html`<p class="wrong" id=${`${id}-wrong`}>${wrong}</p>`}
  </div>`;
}

/** @param {ToggleProperties} properties of a button that turns something on and off, or opens and closes it where it `opens` */
export function Toggle({ isOn, click, opens, children, ...rest }) {
  const state = { [opens ? "aria-expanded" : "aria-pressed"]: String(isOn) };
  return html`<button type="button" onClick=${click} ...${state} ...${rest}>${children}</button>`;
}

/**
 * Run one piece of work at a time, and tell what went wrong with it: `[isBusy, run]`.
 * @type {(tell: (words: string, error: unknown) => void) => [boolean, (work: () => unknown) => Promise<void>]}
 */
function useWork(tell) {
  const [isBusy, setBusy] = useState(false);
  async function run(/** @type {() => unknown} */ work) {
    if (isBusy) return;
    setBusy(true);
    try {
      await work();
    } catch (error) {
      if (nameOf(error) !== "AbortError") tell(wordsOf(error), error);
    } finally {
      setBusy(false);
    }
  }
  return [isBusy, run];
}

/** @param {WorkButtonProperties} properties of a button that is busy while its work is under way, and keeps the focus */
export function WorkButton({ work, children, ...rest }) {
  const [isBusy, run] = useWork((words) => toast(words, "bad"));
  return html`<button type="button" aria-disabled=${isBusy || null} onClick=${() => run(work)} ...${rest}>${children}</button>`;
}

/** @param {WorkFormProperties} properties of a form that is busy while what was filled in is sent, and says what was wrong with it */
export function WorkForm({ submit, words = "", children, ...rest }) {
  const [said, say] = useState({ words, fields: NOTHING_WRONG });
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const [isBusy, run] = useWork((text, error) => {
    if (!form.current) return toast(text, "bad"); // It was left meanwhile.
    const fields = wrongFields(error, form.current);
    say(fields ? { words: "Nothing was done: see what is said at the fields.", fields } : { words: text, fields: NOTHING_WRONG });
  });
  // Once all of them say it, however deep in the form they are.
  useEffect(() => {
    /** @type {HTMLElement | null | undefined} */
    const first = form.current?.querySelector("[aria-invalid]");
    first?.focus();
  }, [said.fields]);
  function submitted(/** @type {SubmitEvent} */ event) {
    event.preventDefault();
    const values = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    void run(() => {
      say({ words: "", fields: NOTHING_WRONG });
      return submit(values);
    });
  }
  return html`<form ref=${form} onSubmit=${submitted} aria-busy=${isBusy} ...${rest}>
    <${Wrong.Provider} value=${said.fields}>${children}<//>
    <p class="said" role="alert">${said.words}</p>
  </form>`;
}

/**
 * What the server said of the fields of a form, by their names; null where it said something of no field.
 * @type {(error: unknown, form: HTMLFormElement | null) => Record<string, string> | null}
 */
function wrongFields(error, form) {
  const detail = error instanceof Problem ? error.members.detail : null;
  if (!Array.isArray(detail) || !form) return null;
  const found = detail.map(({ loc, msg }) => {
    const place = (loc ?? []).filter((part) => part !== "body");
    // Of several that are chosen the place is said as well.
    const name = [place.join("."), place[0] ?? ""].find((each) => fieldOf(form, each));
    return name ? /** @type {const} */ ([name, msg]) : null;
  });
  return found.every((each) => each !== null) ? Object.fromEntries(found) : null;
}

/** @type {(form: HTMLFormElement, name: string) => Element | null | undefined} with a label, below which something can be said */
const fieldOf = (form, name) => form.querySelector(`[name="${CSS.escape(name)}"]`)?.closest(".field, .choices, .parameter");

/** @param {DialogProperties} properties of what is open while it is drawn */
export function Dialog({ title, submit, close, children }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const latest = useRef(close);
  latest.current = close;
  useLayoutEffect(() => {
    const dialog = element.current;
    const gone = new AbortController();
    // It stays open until it is drawn no more: a key pressed between would ask what is still asked, and then be forgotten.
    function leave(/** @type {Event} */ event) {
      event.preventDefault();
      latest.current();
    }
    for (const kind of ["cancel", "close"]) dialog?.addEventListener(kind, leave, gone);
    dialog?.showModal();
    return () => {
      gone.abort();
      dialog?.close(); // Which gives the focus back.
    };
  }, []);
  return html`<dialog ref=${element} aria-label=${title}>
    <${WorkForm} submit=${submit}><h2>${title}</h2>${children}<//>
  </dialog>`;
}

/** @type {(values: FormData, name: string) => string} what was filled into a field of a form */
export function textOf(values, name) {
  const value = values.get(name);
  return typeof value === "string" ? value.trim() : "";
}

/** @param {{text: string, label?: string}} properties of a text to be used elsewhere, with a button that copies it */
export function CommandLine({ text, label = "Copy" }) {
  const [said, say] = useState("");
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
    setTimeout(() => say(""), 2000);
  }
  return html`<div class="command">
    <code tabindex="0" ref=${code}>${text}</code>
    <button type="button" class="quiet" onClick=${copy}>${said || label}</button>
  </div>`;
}

/** What brings a machine here, with the token that was printed for it. */
export const JoinCommand = () =>
  html`<${CommandLine} text=${`farhand-machine join --server ${HOME.href.replace(/\/$/, "")} --token TOKEN`} />`;

/** @param {{title: string, children?: unknown}} properties of what is shown where there is nothing yet: the next step */
export const EmptyState = ({ title, children }) => html`<section class="empty"><h2>${title}</h2>${children}</section>`;

/** @param {NothingFitsProperties} properties of filters that leave nothing: why if that is known, and the way out */
export const NothingFits = ({ what, clear, children }) => html`<${EmptyState} title="Nothing fits">
  <p>No ${what} fits all of these filters.</p>
  ${children}
  <button type="button" onClick=${clear}>Clear the filters</button>
<//>`;

/** @param {{what: string, back: string, name: string}} properties of a page for an address that leads to nothing of one's own */
export const NotFound = ({ what, back, name }) => html`<section class="empty">
  <h1>Not found</h1>
  <p>There is no ${what} with this address in your organization.</p>
  <p><a href=${back}>Back to ${name}</a></p>
</section>`;

/** @param {{reading: {error: unknown, read: () => unknown}}} properties of what is not read yet, or could not be */
export const Unread = ({ reading: { error, read } }) =>
  error ? html`<${Failure} error=${error} again=${read} />` : html`<p class="empty">Loading…</p>`;

/** @param {{error: unknown, again: () => unknown}} properties of what could not be shown, with a way to try again */
export const Failure = ({ error, again }) => html`<section class="empty" role="alert">
  <h2>This could not be read</h2>
  <p>${wordsOf(error)}</p>
  <button type="button" onClick=${() => void again()}>Try again</button>
</section>`;
