/** What of a person's work did not happen, or may not have: counted, and in words. */

import { Store } from "../parts/elements.js";
import { count } from "../parts/words.js";

/** What was not sent, or of which nobody knows: kept until the person has read it. */
export class Losses extends Store {
  #notSent = noneUndone();
  #unknown = noneUndone();

  /** @param {Undone} undone */
  notSent(undone) {
    add(this.#notSent, undone);
    this.tellNow();
  }

  /** @param {Undone} undone */
  unknown(undone) {
    add(this.#unknown, undone);
    this.tellNow();
  }

  dismiss() {
    this.#notSent = noneUndone();
    this.#unknown = noneUndone();
    this.tellNow();
  }

  /** In sentences; empty where nothing is lost. */
  get words() {
    const notSent = named(this.#notSent);
    const unknown = named(this.#unknown);
    const sentences = [
      unknown && `It is not known whether this was carried out: ${unknown}. Look at the screen before you go on.`,
      notSent && `Not sent: ${notSent}.`,
    ];
    return sentences.filter(Boolean).join(" ");
  }
}

/** @returns {Undone} */
function noneUndone() {
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
function add(all, more) {
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
function named({ moves, presses, notches, keys, characters }) {
  const parts = presses.map(({ button, x, y }) => `${button} click${x === null ? "" : ` at (${x}, ${y})`}`);
  if (keys) parts.push(count(keys, "key"));
  if (characters) parts.push(count(characters, "character"));
  if (notches) parts.push(count(notches, "notch", "notches"));
  if (!parts.length && moves) parts.push(count(moves, "move"));
  return parts.join(", ");
}
