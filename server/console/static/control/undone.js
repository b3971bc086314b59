/** What of a person's work did not happen, or may not have: counted, and in words. */

import { count } from "../parts/words.js";

/** @returns {Undone} */
export function noneUndone() {
  return { moves: 0, presses: [], notches: 0, keys: 0, characters: 0 };
}

/**
 * Whether a person did something that they would miss; a pointer moves by itself.
 * @param {HandEvent[]} events
 */
export function isDone(events) {
  return events.some((event) => event.type !== "move" && !("down" in event && !event.down));
}

/**
 * What of events is missed where they were not carried out.
 * @param {HandEvent[]} events
 */
export function undoneOf(events) {
  const undone = noneUndone();
  for (const event of events) {
    if (event.type === "move") undone.moves += 1;
    else if (event.type === "wheel") undone.notches += event.amount;
    else if (event.type === "text") undone.characters += Array.from(event.text).length;
    else if (!event.down) continue;
    else if (event.type === "key") undone.keys += 1;
    else undone.presses.push({ button: event.button, x: event.x ?? null, y: event.y ?? null });
  }
  return undone;
}

/**
 * @param {Undone} all
 * @param {Undone} more
 */
export function add(all, more) {
  all.moves += more.moves;
  all.presses.push(...more.presses);
  all.notches += more.notches;
  all.keys += more.keys;
  all.characters += more.characters;
}

/**
 * What was not done, in words; moves count only where they are all.
 * @param {Undone} undone
 */
export function named({ moves, presses, notches, keys, characters }) {
  const parts = presses.map(({ button, x, y }) => `${button} click${x === null ? "" : ` at (${x}, ${y})`}`);
  if (keys) parts.push(count(keys, "key"));
  if (characters) parts.push(count(characters, "character"));
  if (notches) parts.push(count(notches, "notch", "notches"));
  if (!parts.length && moves) parts.push(count(moves, "move"));
  return parts.join(", ");
}
