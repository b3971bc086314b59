/**
 * From a browser's keyboard to the keys of a hand: by character where one is typed, so that it is the
 * same on every layout, and by the physical key where a shortcut needs a Latin letter.
 */

/** @type {Record<string, string>} */
const NAMES = {
  " ": "space",
  "+": "plus",
  "-": "minus",
  Enter: "enter",
  Tab: "tab",
  Escape: "esc",
  Backspace: "backspace",
  Delete: "delete",
  Insert: "insert",
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
  Home: "home",
  End: "end",
  PageUp: "page_up",
  PageDown: "page_down",
  ContextMenu: "menu",
  ScrollLock: "scroll_lock",
  PrintScreen: "print_screen",
  Pause: "pause",
};

/** @type {Record<string, string>} */
const MODIFIERS = { Control: "ctrl", Alt: "alt", Meta: "super" };
/** @type {["ctrlKey" | "altKey" | "metaKey", string][]} */
const HELD = [
  ["ctrlKey", "ctrl"],
  ["altKey", "alt"],
  ["metaKey", "super"],
];

/** What is pressed to leave, in words; browsers and desktops leave it alone. */
export const LEAVING = "Ctrl+Alt+Shift+Q";

/**
 * The console's own keys, by their places, while Ctrl, Alt and Shift are held.
 * @type {Record<string, OwnKey>}
 */
const OWN = { KeyQ: "leave", KeyC: "copy", KeyK: "buttons" };

/**
 * What a key is for that does not go to the machine; null where it does.
 * @param {KeyLike} event
 */
export function ownKeyOf({ code, ctrlKey, altKey, shiftKey }) {
  return (ctrlKey && altKey && shiftKey && OWN[code]) || null;
}

/**
 * What pastes on the machine, where these keys paste in the browser; null where they do not.
 * @param {KeyLike} event
 * @param {boolean} isMac
 */
export function pastingOf(event, isMac) {
  const { key, ctrlKey, altKey, shiftKey, metaKey } = event;
  if (altKey) return null;
  if (key === "Insert") return shiftKey && !ctrlKey && !metaKey ? "shift+insert" : null;
  if (latin(event) !== "v" || ctrlKey === isMac || metaKey !== isMac) return null;
  return shiftKey ? "ctrl+shift+v" : "ctrl+v";
}

/**
 * Whether these keys copy on the machine.
 * @param {KeyLike} event
 */
export function isCopying(event) {
  return event.ctrlKey && !event.altKey && (event.key === "Insert" || ["c", "x"].includes(latin(event)));
}

/**
 * Whether the browser makes a text of a key that is not known yet: an input method, a dead key, a
 * keyboard on a screen.
 * @param {KeyLike} event
 */
export function isComposed({ key, isComposing }) {
  return isComposing || ["Dead", "Process", "Unidentified"].includes(key);
}

/**
 * The keys of a person that are down, by their places on the keyboard, as the machine has them; the
 * left and the right one of a modifier are one.
 */
export class Keys {
  /** @type {Map<string, string>} */
  #down = new Map();
  /** Shift is pressed on the machine only where it is more than a part of a character. */
  #isShift = false;
  #isShiftUsed = false;

  /** @param {boolean} isMac where Option, which is Alt, makes characters as AltGr does */
  constructor(isMac) {
    this.isMac = isMac;
  }

  /**
   * A key went down: what the machine is to do.
   * @param {KeyLike} event
   * @returns {KeyEvent[]}
   */
  down(event) {
    // What is held repeats on the machine itself.
    if (event.repeat || isComposed(event)) return [];
    const { key } = event;
    if (key === "Shift") {
      this.#isShift = true;
      this.#isShiftUsed = false;
      return [];
    }
    // Windows says Ctrl before AltGr, and neither is meant.
    if (key === "AltGraph") return this.#lift("ctrl", "alt");
    const modifier = MODIFIERS[key];
    if (modifier) return [...this.#withShift(), ...this.#hold(modifier)];
    const isCharacter = Array.from(key).length === 1;
    if (isCharacter && this.#isTyped(event)) {
      this.#isShiftUsed = true;
      return [...this.#lift("ctrl", "alt", "shift"), ...this.#press(event, NAMES[key] ?? key)];
    }
    const name = nameOf(event);
    return name === null ? [] : [...this.hold(event), ...this.#press(event, name)];
  }

  /**
   * A key went up.
   * @param {KeyLike} event
   * @returns {KeyEvent[]}
   */
  up(event) {
    if (event.key === "Shift") return this.#shiftUp();
    const modifier = MODIFIERS[event.key];
    // While Command is down, a Mac tells of no other key that it went up.
    if (event.key === "Meta" && this.isMac) return this.release();
    return this.#up(modifier ?? placeOf(event));
  }

  /**
   * What an event of the keyboard or the pointer is done with: a click, the wheel or a shortcut.  The
   * machine may have let go of it, and the person has not.
   * @param {Held} event
   * @returns {KeyEvent[]}
   */
  hold(event) {
    if (event.getModifierState("AltGraph")) return [];
    this.#isShift = event.shiftKey;
    const held = HELD.filter(([flag]) => event[flag]).flatMap(([, name]) => this.#hold(name));
    return [...held, ...this.#withShift()];
  }

  /** Let everything go, the last one first. */
  release() {
    this.#isShift = false;
    return [...this.#down.keys()].toReversed().flatMap((place) => this.#up(place));
  }

  /**
   * Whether a character is meant as itself, and no shortcut with it.
   * @param {KeyLike} event
   */
  #isTyped(event) {
    if (event.getModifierState("AltGraph")) return true;
    if (event.ctrlKey || event.metaKey) return false;
    return !event.altKey || (this.isMac && event.key !== "\u00a0");
  }

  /**
   * @param {KeyLike} event
   * @param {string} name
   * @returns {KeyEvent[]}
   */
  #press(event, name) {
    const before = this.#up(placeOf(event));
    this.#down.set(placeOf(event), name);
    return [...before, { type: "key", key: name, down: true }];
  }

  /**
   * Press a modifier, unless it is down.
   * @param {string} name
   * @returns {KeyEvent[]}
   */
  #hold(name) {
    if (this.#down.has(name)) return [];
    this.#down.set(name, name);
    return [{ type: "key", key: name, down: true }];
  }

  /**
   * @param {string} place
   * @returns {KeyEvent[]}
   */
  #up(place) {
    const name = this.#down.get(place);
    if (name === undefined) return [];
    this.#down.delete(place);
    return [{ type: "key", key: name, down: false }];
  }

  /**
   * Release these modifiers on the machine, though the person holds them.
   * @param {string[]} names
   */
  #lift(...names) {
    return names.flatMap((name) => this.#up(name));
  }

  #withShift() {
    if (!this.#isShift) return [];
    this.#isShiftUsed = true;
    return this.#hold("shift");
  }

  #shiftUp() {
    // Pressed for itself, it is a key like others.
    const alone = this.#isShiftUsed ? [] : this.#withShift();
    this.#isShift = false;
    return [...alone, ...this.#up("shift")];
  }
}

/** @param {KeyLike} event */
function placeOf({ code, key }) {
  return code || key;
}

/**
 * The key of a shortcut: its letter, or what a Latin keyboard has in its place.
 * @param {Pick<KeyLike, "key" | "code">} event
 */
function latin({ key, code }) {
  if (/^[!-~]$/.test(key)) return key.toLowerCase();
  return /^(?:Key|Digit)([A-Z0-9])$/.exec(code)?.[1]?.toLowerCase() ?? key;
}

/** @param {string} key */
function functionKey(key) {
  return /^F([1-9]|1\d|2[0-4])$/.test(key) ? key.toLowerCase() : null;
}

/**
 * The key of an event, whatever character it makes; null for modifiers, and what has no name.
 * @param {Pick<KeyLike, "key" | "code">} event
 */
export function nameOf(event) {
  const { key } = event;
  return NAMES[key] ?? (Array.from(key).length === 1 ? latin(event) : functionKey(key));
}

/**
 * The keys of a combination, down and up again.
 * @param {string} chord
 * @returns {KeyEvent[]}
 */
export function strokesOf(chord) {
  const keys = chord.split("+");
  /** @type {(key: string, down: boolean) => KeyEvent} */
  const event = (key, down) => ({ type: "key", key, down });
  return [...keys.map((key) => event(key, true)), ...keys.toReversed().map((key) => event(key, false))];
}
