/**
 * From a browser's keyboard to the keys of a hand: by character where one is typed, so that it is the
 * same on every layout, and by the physical key where a shortcut needs a Latin letter.
 */

/** @type {Record<string, string>} what is called otherwise on the machine */
const NAMES = { " ": "space", "+": "plus", "-": "minus", Escape: "esc", ContextMenu: "menu" };
/** What is called the same there, as `up` and `page_up`. */
const ARROWS = /^Arrow(Up|Down|Left|Right)$/;
const NAMED = /^(Enter|Tab|Backspace|Delete|Insert|Home|End|Page(Up|Down)|Pause|ScrollLock|PrintScreen|F([1-9]|1\d|2[0-4]))$/;

/** @type {Record<string, string>} */
const MODIFIERS = { Control: "ctrl", Alt: "alt", Meta: "super" };

/** What is pressed to leave, in words; browsers and desktops leave it alone. */
export const LEAVING = "Ctrl+Alt+Shift+Q";

/** @type {Record<string, OwnKey>} the console's own keys, by their places, while Ctrl, Alt and Shift are held */
const OWN = { KeyQ: "leave", KeyC: "copy", KeyK: "buttons" };

/** @param {KeyLike} event what it is for, where it does not go to the machine */
export const ownKeyOf = ({ code, ctrlKey, altKey, shiftKey }) => (ctrlKey && altKey && shiftKey && OWN[code]) || null;

/** @type {(event: KeyLike, isMac: boolean) => string | null} what pastes on the machine, where these keys do in the browser */
export function pastingOf(event, isMac) {
  const { key, ctrlKey, altKey, shiftKey, metaKey } = event;
  if (altKey) return null;
  if (key === "Insert") return shiftKey && !ctrlKey && !metaKey ? "shift+insert" : null;
  if (latin(event) !== "v" || ctrlKey === isMac || metaKey !== isMac) return null;
  return shiftKey ? "ctrl+shift+v" : "ctrl+v";
}

/** @param {KeyLike} event whether it copies on the machine */
export const isCopying = (event) =>
  event.ctrlKey && !event.altKey && (event.key === "Insert" || ["c", "x"].includes(latin(event)));

/** @param {KeyLike} event whether the browser makes a text of it: an input method, a dead key, a keyboard on a screen */
export const isComposed = ({ key, isComposing }) => isComposing || ["Dead", "Process", "Unidentified"].includes(key);

/**
 * The keys of a person that are down, by their places on the keyboard, as the machine has them; the
 * left and the right one of a modifier are one.  What it returns is for the machine to do.
 */
export class Keys {
  #down = /** @type {Map<string, string>} */ (new Map());
  /** Shift is pressed on the machine only where it is more than a part of a character. */
  #isShift = false;
  #isShiftUsed = false;

  /** @param {boolean} isMac where Option, which is Alt, makes characters as AltGr does */
  constructor(isMac) {
    this.isMac = isMac;
  }

  down(/** @type {KeyLike} */ event) {
    const { key } = event;
    const place = event.code || key;
    // What is held repeats on the machine itself.
    if (event.repeat || isComposed(event)) return [];
    if (key === "Shift") {
      this.#isShift = true;
      this.#isShiftUsed = false;
      return [];
    }
    // Windows says Ctrl before AltGr, and neither is meant.
    if (key === "AltGraph") return this.#up("ctrl", "alt");
    const modifier = MODIFIERS[key];
    if (modifier) return [...this.#withShift(), ...this.#hold(modifier)];
    if (this.#isTyped(event)) {
      this.#isShiftUsed = true;
      return [...this.#up("ctrl", "alt", "shift"), ...this.#press(place, NAMES[key] ?? key)];
    }
    const name = nameOf(event);
    return name === null ? [] : [...this.hold(event), ...this.#press(place, name)];
  }

  up(/** @type {KeyLike} */ event) {
    if (event.key === "Shift") {
      // Pressed for itself, it is a key like others.
      const alone = this.#isShiftUsed ? [] : this.#withShift();
      this.#isShift = false;
      return [...alone, ...this.#up("shift")];
    }
    // While Command is down, a Mac tells of no other key that it went up.
    if (event.key === "Meta" && this.isMac) return this.release();
    return this.#up(MODIFIERS[event.key] ?? (event.code || event.key));
  }

  /**
   * What an event of the keyboard or the pointer is done with: a click, the wheel or a shortcut.  The
   * machine may have let go of it, and the person has not.
   * @param {Held} event
   */
  hold(event) {
    if (event.getModifierState("AltGraph")) return [];
    this.#isShift = event.shiftKey;
    const held = Object.entries({ ctrl: event.ctrlKey, alt: event.altKey, super: event.metaKey });
    return [...held.flatMap(([name, isHeld]) => (isHeld ? this.#hold(name) : [])), ...this.#withShift()];
  }

  /** Let everything go, the last one first. */
  release() {
    this.#isShift = false;
    return this.#up(...[...this.#down.keys()].toReversed());
  }

  /** @param {KeyLike} event whether it is a character that is meant as itself, and no shortcut with it */
  #isTyped(event) {
    if (!isCharacter(event.key)) return false;
    if (event.getModifierState("AltGraph")) return true;
    return !event.ctrlKey && !event.metaKey && (!event.altKey || (this.isMac && event.key !== "\u00a0"));
  }

  /** @type {(place: string, name: string) => KeyEvent[]} */
  #press(place, name) {
    const before = this.#up(place);
    this.#down.set(place, name);
    return [...before, stroke(name, true)];
  }

  /** @param {string} modifier pressed unless it is down */
  #hold(modifier) {
    return this.#down.has(modifier) ? [] : this.#press(modifier, modifier);
  }

  /** @param {string[]} places what is down there goes up on the machine, though the person may hold it */
  #up(...places) {
    return places.flatMap((place) => {
      const name = this.#down.get(place);
      return this.#down.delete(place) && name ? [stroke(name, false)] : [];
    });
  }

  #withShift() {
    if (!this.#isShift) return [];
    this.#isShiftUsed = true;
    return this.#hold("shift");
  }
}

export const isCharacter = (/** @type {string} */ key) => Array.from(key).length === 1;

/** @param {KeyPlace} event the key of a shortcut: its letter, or what a Latin keyboard has in its place */
function latin({ key, code }) {
  if (/^[!-~]$/.test(key)) return key.toLowerCase();
  return /^(?:Key|Digit)([A-Z0-9])$/.exec(code)?.[1]?.toLowerCase() ?? key;
}

/** @param {KeyPlace} event the key of it, whatever character it makes; null for modifiers, and what has no name */
export function nameOf(event) {
  const { key } = event;
  if (isCharacter(key)) return NAMES[key] ?? latin(event);
  const name = ARROWS.exec(key)?.[1] ?? NAMED.exec(key)?.[0].replace(/\B[A-Z]/, "_$&");
  return NAMES[key] ?? name?.toLowerCase() ?? null;
}

/** @param {string} chord keys that go down, and up again */
export function strokesOf(chord) {
  const keys = chord.split("+");
  return [...keys.map((key) => stroke(key, true)), ...keys.toReversed().map((key) => stroke(key, false))];
}

/** @type {(key: string, down: boolean) => KeyEvent} */
const stroke = (key, down) => ({ type: "key", key, down });
