/** The keys that a browser keeps for itself and those that a phone lacks, as buttons. */

import { h, setAttribute } from "../parts/dom.js";
import { nameOf, strokesOf } from "./keys.js";

/** What is on a button, its keys where they are called otherwise, and its name where that is no word. */
const FEW = [
  ["Esc"],
  ["Tab"],
  ["Enter"],
  ["←", "left", "Left"],
  ["↑", "up", "Up"],
  ["↓", "down", "Down"],
  ["→", "right", "Right"],
];
const COMBINATIONS = [
  ["Ctrl+Alt+Del", "ctrl+alt+delete"],
  ["Alt+Tab"],
  ["Alt+F4"],
  ["Ctrl+W"],
  ["Super"],
];
const MORE = [
  ["Del", "delete"],
  ["Ins", "insert"],
  ["Home"],
  ["End"],
  ["PgUp", "page_up"],
  ["PgDn", "page_down"],
  ...Array.from({ length: 12 }, (_, at) => [`F${at + 1}`]),
];

/** Modifiers wait for the next key, a button or typed; then all go down and up at once: nothing is held. */
export class Keypad {
  /** @type {Map<string, HTMLButtonElement>} */
  #modifiers = new Map();
  #latched = new Set();
  #more = this.#row(MORE, "more");
  opener = h("button", { type: "button", "aria-controls": "more-keys", click: () => this.#open() }, "More keys");
  keyboard = h("button", { type: "button", class: "for-touch", click: () => this.#type() }, "Keyboard");

  /**
   * @param {HTMLTextAreaElement} typing
   * @param {import("./touchpad.js").Touchpad} touchpad
   * @param {(...events: HandEvent[]) => void} send
   * @param {AbortSignal} signal
   */
  constructor(typing, touchpad, send, signal) {
    this.typing = typing;
    this.send = send;
    for (const label of ["Ctrl", "Alt", "Shift", "Super"]) this.#modifier(label, label.toLowerCase());
    this.#more.id = "more-keys";
    this.#more.hidden = true;
    this.#draw();
    // Whoever points at a button goes on typing: a phone's keyboard stays.
    this.element = h(
      "div",
      { class: "keys", role: "group", "aria-label": "Keys", mousedown: (/** @type {Event} */ event) => event.preventDefault() },
      h(
        "div",
        { class: "row" },
        h("span", { class: "row" }, this.opener, touchpad.button, this.keyboard),
        h("span", { class: "row" }, [...this.#modifiers.values()]),
        this.#row(FEW),
      ),
      this.#row(COMBINATIONS, "combinations"),
      this.#more,
      touchpad.hint,
      h("p", { class: "small for-mouse" }, "Ctrl+Alt+Shift+K leads from the picture to these keys, and Escape back."),
    );
    followKeyboard(this.element, signal);
  }

  /**
   * A key of a keyboard goes down: all that happens where modifiers are latched, null where none are.
   * @param {KeyLike} event
   */
  pressed(event) {
    const name = nameOf(event);
    if (!this.#latched.size || name === null) return null;
    return Array.from(event.key).length === 1 ? this.typed(event.key) : strokesOf([...this.#take(), name].join("+"));
  }

  /**
   * A character was typed: the same.
   * @param {string} character
   * @returns {HandEvent[] | null}
   */
  typed(character) {
    if (!this.#latched.size) return null;
    const modifiers = this.#take();
    if (modifiers.join() === "shift") return [{ type: "text", text: character.toUpperCase() }];
    return strokesOf([...modifiers, nameOf({ key: character, code: "" })].join("+"));
  }

  unlatch() {
    this.#latched.clear();
    this.#draw();
  }

  #take() {
    const names = [...this.#modifiers.keys()].filter((name) => this.#latched.has(name));
    this.unlatch();
    return names;
  }

  /** @type {(label: string, name: string) => void} */
  #modifier(label, name) {
    const click = () => {
      if (!this.#latched.delete(name)) this.#latched.add(name);
      this.#draw();
    };
    const title = `${label} with the next key`;
    this.#modifiers.set(name, h("button", { type: "button", title, click }, `${label} +`));
  }

  /** @type {(keys: string[][], name?: string) => HTMLElement} */
  #row(keys, name = "") {
    return h("span", { class: `row ${name}` }, keys.map((key) => this.#button(key)));
  }

  /** @param {string[]} key */
  #button([label = "", chord = label.toLowerCase(), name]) {
    const click = () => this.send(...strokesOf([...new Set([...this.#take(), ...chord.split("+")])].join("+")));
    return h("button", { type: "button", "aria-label": name, click }, label);
  }

  #open() {
    this.#more.hidden = !this.#more.hidden;
    this.#draw();
  }

  /** Let a phone show its keyboard, or hide it: it looks when the field gets the focus. */
  #type() {
    this.typing.inputMode = this.typing.inputMode === "none" ? "text" : "none";
    this.typing.blur();
    this.typing.focus();
    this.#draw();
  }

  #draw() {
    for (const [name, button] of this.#modifiers) setAttribute(button, "aria-pressed", String(this.#latched.has(name)));
    setAttribute(this.keyboard, "aria-pressed", String(this.typing.inputMode === "text"));
    setAttribute(this.opener, "aria-expanded", String(!this.#more.hidden));
    this.element?.classList.toggle("open", !this.#more.hidden);
  }
}

/**
 * A phone's keyboard covers the end of the window: say how much of it, so that the keys stay above.
 * @type {(element: HTMLElement, signal: AbortSignal) => void}
 */
function followKeyboard(element, signal) {
  const view = window.visualViewport;
  const draw = () => {
    const covered = view ? document.documentElement.clientHeight - view.height - view.offsetTop : 0;
    element.style.setProperty("--covered", `${view?.scale === 1 ? Math.max(covered, 0) : 0}px`);
  };
  view?.addEventListener("resize", draw, { signal });
  view?.addEventListener("scroll", draw, { signal });
}
