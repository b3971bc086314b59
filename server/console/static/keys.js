/** From a browser's keyboard to the names of the key combination language. */

/** @type {Record<string, string>} */
const NAMES = {
  " ": "space",
  "+": "plus",
  "-": "minus",
  Enter: "enter",
  Tab: "tab",
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
  CapsLock: "caps_lock",
  PrintScreen: "print_screen",
  Pause: "pause",
};

const MODIFIERS = ["Control", "Shift", "Alt", "AltGraph", "Meta"];

/**
 * What a key press means: {text} for a character to type, {chord} for a key combination, null for
 * what cannot be sent: a modifier alone, a dead key, a key without a name.
 * @param {KeyboardEvent} event
 */
export function meaningOf(event) {
  const { key } = event;
  if (MODIFIERS.includes(key)) return null;
  const character = Array.from(key).length === 1;
  // AltGr makes characters, and some systems report it as Ctrl and Alt together.
  const typed = character && (event.getModifierState("AltGraph") || !heldBy(event).length);
  if (typed) return { text: key };
  const name = NAMES[key] ?? (character ? key.toLowerCase() : functionKey(key));
  if (name === null) return null;
  // Shift is already in a character; of a key with a name it is a modifier.
  const shift = event.shiftKey && (!character || key !== key.toLowerCase());
  return { chord: [...heldBy(event), ...(shift ? ["shift"] : []), name].join("+") };
}

/** @param {KeyboardEvent} event */
function heldBy(event) {
  const held = [];
  if (event.ctrlKey) held.push("ctrl");
  if (event.altKey) held.push("alt");
  if (event.metaKey) held.push("super");
  return held;
}

/** @param {string} key */
function functionKey(key) {
  return /^F([1-9]|1\d|2[0-4])$/.test(key) ? key.toLowerCase() : null;
}

/** Combinations that a browser or a system keeps for itself, as buttons. */
export const OFFERED = /** @type {const} */ ([
  ["Esc", "esc"],
  ["Tab", "tab"],
  ["Enter", "enter"],
  ["Ctrl+Alt+Del", "ctrl+alt+delete"],
  ["Alt+Tab", "alt+tab"],
  ["Alt+F4", "alt+f4"],
  ["Ctrl+W", "ctrl+w"],
  ["Super", "super"],
]);
