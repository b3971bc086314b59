/** The keys that a browser keeps for itself and those that a phone lacks, as buttons. */

import { html, Store, useEffect, useRef, useState, useStore } from "../parts/elements.js";
import { Toggle } from "../parts/pieces.js";
import { isCharacter, nameOf, strokesOf } from "./keys.js";
import { TouchHint, TouchpadButton } from "./touchpad.js";

const MODIFIERS = ["Ctrl", "Alt", "Shift", "Super"];

/** What is on a button, its keys where they are called otherwise, and its name where that is no word. */
const ARROWS = [["←", "left", "Left"], ["↑", "up", "Up"], ["↓", "down", "Down"], ["→", "right", "Right"]];
const FEW = [["Esc"], ["Tab"], ["Enter"], ...ARROWS];
const COMBINATIONS = [["Ctrl+Alt+Del", "ctrl+alt+delete"], ["Alt+Tab"], ["Alt+F4"], ["Ctrl+W"], ["Super"]];
const MOVING = [["Del", "delete"], ["Ins", "insert"], ["Home"], ["End"], ["PgUp", "page_up"], ["PgDn", "page_down"]];
const MORE = [...MOVING, ...Array.from({ length: 12 }, (_, at) => [`F${at + 1}`])];

/** Modifiers that wait for the next key, a button or typed; then all go down and up at once: nothing is held. */
export class Latches extends Store {
  latched = /** @type {Set<string>} */ (new Set());

  toggle(/** @type {string} */ name) {
    if (!this.latched.delete(name)) this.latched.add(name);
    this.tellNow();
  }

  clear() {
    this.latched.clear();
    this.tellNow();
  }

  /** @param {string[]} keys of a button, which go down and up with what is latched */
  strokes(keys) {
    return strokesOf([...new Set([...this.#take(), ...keys])].join("+"));
  }

  /** @param {KeyLike} event a key that goes down: all that happens where modifiers are latched, null where none are */
  pressed(event) {
    const name = nameOf(event);
    if (!this.latched.size || name === null) return null;
    return isCharacter(event.key) ? this.typed(event.key) : this.strokes([name]);
  }

  /** @type {(character: string) => HandEvent[] | null} the same where a character is typed */
  typed(character) {
    if (!this.latched.size) return null;
    const modifiers = this.#take();
    if (modifiers.join() === "shift") return [{ type: "text", text: character.toUpperCase() }];
    return strokesOf([...modifiers, nameOf({ key: character, code: "" })].join("+"));
  }

  #take() {
    const names = [...this.latched];
    this.clear();
    return names;
  }
}

export function KeysPanel(/** @type {{control: MachineControl}} */ { control }) {
  const { touchpad, typing, hand } = control;
  const latches = useStore(control.latches);
  const [isOpen, open] = useState(false);
  const [isTyping, type] = useState(typing.inputMode === "text");
  const element = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    // A phone's keyboard covers the end of the window: say how much of it, so that the keys stay above.
    const view = window.visualViewport;
    const draw = () => {
      const covered = view?.scale === 1 ? document.documentElement.clientHeight - view.height - view.offsetTop : 0;
      element.current?.style.setProperty("--covered", `${Math.max(covered, 0)}px`);
    };
    const ending = new AbortController();
    for (const change of ["resize", "scroll"]) view?.addEventListener(change, draw, { signal: ending.signal });
    return () => ending.abort();
  }, []);
  /** Let a phone show its keyboard, or hide it: it looks when the field gets the focus. */
  function toggleKeyboard() {
    typing.inputMode = isTyping ? "none" : "text";
    typing.blur();
    typing.focus();
    type(!isTyping);
  }
  /** @type {(keys: string[][], name?: string) => unknown} */
  const row = (keys, name = "") => html`<span class="row ${name}">
    ${keys.map(([label = "", chord = label.toLowerCase(), said]) => html`<button
      type="button" aria-label=${said} onClick=${() => hand?.send(...latches.strokes(chord.split("+")))}
    >${label}</button>`)}
  </span>`;
  const latch = (/** @type {string} */ label, name = label.toLowerCase()) =>
    html`<${Toggle} title="${label} with the next key" isOn=${latches.latched.has(name)} click=${() => latches.toggle(name)}>${label} +<//>`;
  // Whoever points at a button goes on typing: a phone's keyboard stays.
  return html`<div
    class=${isOpen ? "keys open" : "keys"} role="group" aria-label="Keys" ref=${element}
    onMouseDown=${(/** @type {Event} */ event) => event.preventDefault()}
  >
    <div class="row">
      <span class="row">
        <${Toggle} opens isOn=${isOpen} aria-controls="more-keys" click=${() => open(!isOpen)}>More keys<//>
        <${TouchpadButton} touchpad=${touchpad} />
        <${Toggle} isOn=${isTyping} class="for-touch" click=${toggleKeyboard}>Keyboard<//>
      </span>
      <span class="row">${MODIFIERS.map((label) => latch(label))}</span>
      ${row(FEW)}
    </div>
    ${row(COMBINATIONS, "combinations")}
    <div id="more-keys" hidden=${!isOpen}>${row(MORE)}</div>
    <${TouchHint} touchpad=${touchpad} />
    <p class="small for-mouse">Ctrl+Alt+Shift+K leads from the picture to these keys, and Escape back.</p>
  </div>`;
}
