/** Pieces that several pages show: states, times, commands to copy, empty pages, notices. */

import { nameOf, wordsOf } from "../server/api.js";
import { byId, h, put, setText, svg } from "./dom.js";
import { ago, exactly, STATES } from "./words.js";

/** @type {Record<string, ["circle" | "path" | "rect", Attributes][]>} */
const SHAPES = {
  online: [["circle", { cx: 8, cy: 8, r: 5.5 }]],
  offline: [["path", { d: "M8 1.8 15 14.2H1z" }]],
  no_input: [["path", { d: "M8 .8 15.2 8 8 15.2.8 8z" }]],
  paused: [
    ["rect", { x: 2.5, y: 2, width: 4, height: 12, rx: 1 }],
    ["rect", { x: 9.5, y: 2, width: 4, height: 12, rx: 1 }],
  ],
};

/**
 * A state's own shape, for those to whom colours say little.
 * @param {string} state
 */
export function stateShape(state) {
  const shapes = SHAPES[state] ?? SHAPES.no_input ?? [];
  return svg(
    "svg",
    { class: "shape", viewBox: "0 0 16 16", "aria-hidden": "true" },
    shapes.map(([tag, attributes]) => svg(tag, attributes)),
  );
}

/**
 * A state: shape, colour and word.
 * @param {string} state
 */
export function stateBadge(state) {
  return h("span", { class: "state", "data-state": state }, stateShape(state), STATES[state]?.word ?? state);
}

/**
 * A time as "3 min ago", which goes on by itself; the exact moment is its title.
 * @param {string | null} time
 */
export function timeAgo(time) {
  const element = h("time", { "data-ago": "" });
  setTime(element, time);
  return element;
}

/** @type {(element: HTMLTimeElement, time: string | null) => void} */
export function setTime(element, time) {
  if (!time) {
    element.removeAttribute("datetime");
    element.removeAttribute("title");
    setText(element, "–");
  } else if (element.dateTime !== time) {
    element.dateTime = time;
    element.title = exactly(time);
    setText(element, ago(time));
  }
}

/** Who has control of a machine, and since when, in a line that `show` changes. */
export function holderLine() {
  const by = h("span");
  const since = timeAgo(null);
  const element = h("small", { class: "holder", hidden: true }, by, since);
  /** @param {Holder | null} holder */
  function show(holder) {
    element.hidden = !holder;
    setText(by, holder ? `${holder.by} has control, taken ` : "");
    setTime(since, holder?.since ?? null);
  }
  return { element, show };
}

/** Bring every time on the page up to date; called every few seconds. */
export function tickTimes() {
  /** @type {NodeListOf<HTMLTimeElement>} */
  const times = document.querySelectorAll("time[data-ago][datetime]");
  for (const element of times) setText(element, ago(element.dateTime));
}

/**
 * A command to be run elsewhere, with a button that copies it.
 * @param {string} text
 */
export function commandLine(text) {
  const copied = h("button", { type: "button", class: "quiet", click: copy }, "Copy");
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      copied.textContent = "Copied";
    } catch {
      // Without https there is no clipboard: then it is selected, ready for Ctrl+C.
      getSelection()?.selectAllChildren(code);
      copied.textContent = "Press Ctrl+C";
    }
    setTimeout(() => (copied.textContent = "Copy"), 2000);
  }
  const code = h("code", { tabindex: "0" }, text);
  return h("div", { class: "command" }, code, copied);
}

/**
 * What to show where there is nothing yet: what that means, and the next step.
 * @param {string} title
 * @param {Child[]} content
 */
export function emptyState(title, ...content) {
  return h("section", { class: "empty" }, h("h2", {}, title), content);
}

/**
 * A page for an address that leads to nothing, or to what belongs to somebody else.
 * @type {(what: string, back: string, name: string) => HTMLElement}
 */
export function notFound(what, back, name) {
  return h(
    "section",
    { class: "empty" },
    h("h1", {}, "Not found"),
    h("p", {}, `There is no ${what} with this address in your organization.`),
    h("p", {}, h("a", { href: back }, `Back to ${name}`)),
  );
}

/**
 * An error in the place of what could not be shown, with a way to try again.
 * @type {(error: unknown, again?: () => unknown) => HTMLElement}
 */
export function failure(error, again) {
  return h(
    "section",
    { class: "empty", role: "alert" },
    h("h2", {}, "This could not be read"),
    h("p", {}, wordsOf(error)),
    again && h("button", { type: "button", click: again }, "Try again"),
  );
}

const NOTICE_SECONDS = 8;
const MAX_NOTICES = 4;

/**
 * Say something for a moment, at the edge of the page.
 * @type {(text: string, kind?: Kind) => void}
 */
export function notice(text, kind = "info") {
  const area = byId("notices");
  /** @type {HTMLElement} */
  const shown = h(
    "div",
    { class: "notice", "data-kind": kind },
    h("span", {}, text),
    h("button", { type: "button", class: "quiet", "aria-label": "Dismiss", click: () => shown.remove() }, "✕"),
  );
  put(area, shown);
  while (area.children.length > MAX_NOTICES) area.firstChild?.remove();
  setTimeout(() => shown.remove(), NOTICE_SECONDS * 1000);
}

let labels = 0;

/**
 * A field with its label, in one element.
 * @type {(text: string, field: HTMLElement, className?: string) => HTMLElement}
 */
export function labelled(text, field, className = "field") {
  field.id ||= `field-${(labels += 1)}`;
  return h("div", { class: className }, h("label", { for: field.id }, text), field);
}

/**
 * A click area that makes a button busy while something is under way.
 * @param {HTMLButtonElement} button
 * @param {() => Promise<void>} work
 */
export async function whileBusy(button, work) {
  const hadFocus = document.activeElement === button;
  button.disabled = true;
  try {
    await work();
  } catch (error) {
    if (nameOf(error) !== "AbortError") notice(wordsOf(error), "bad");
  } finally {
    button.disabled = false;
    if (hadFocus && document.activeElement === document.body) button.focus({ preventScroll: true });
  }
}
