/** What a person reads of their work below the picture: how it goes, and what of it did not happen. */

import { Store } from "../parts/elements.js";
import { count } from "../parts/words.js";

export class Outcome extends Store {
  /** @type {Said} of the inputs */
  said = { words: "", kind: "good" };
  /** @type {Said} of texts that were copied */
  noted = { words: "", kind: "good" };
  /** @type {Record<"notSent" | "unknown", Undone[]>} kept until the person has read it */
  #lost = { notSent: [], unknown: [] };

  say(/** @type {string} */ words, /** @type {Kind} */ kind = "good") {
    // Every acknowledgement says that nothing is wrong.
    if (words === this.said.words) return;
    this.said = { words, kind };
    this.tellNow();
  }

  note(/** @type {string} */ words, /** @type {Kind} */ kind = "good") {
    this.noted = { words, kind };
    this.tellNow();
  }

  lose(/** @type {"notSent" | "unknown"} */ how, /** @type {Undone} */ undone) {
    this.#lost[how].push(undone);
    this.tellNow();
  }

  dismiss() {
    this.#lost = { notSent: [], unknown: [] };
    this.tellNow();
  }

  /** What is lost, in sentences. */
  get lost() {
    const notSent = named(this.#lost.notSent);
    const unknown = named(this.#lost.unknown);
    return [
      unknown && `It is not known whether this was carried out: ${unknown}. Look at the screen before you go on.`,
      notSent && `Not sent: ${notSent}.`,
    ].filter(Boolean).join(" ");
  }
}

/** @param {HandEvent[]} events whether a person would miss any; a pointer moves by itself */
export const isDone = (events) => events.some((event) => event.type !== "move" && !("down" in event && !event.down));

/** @param {HandEvent[]} events what is missed where they were not carried out */
export function undoneOf(events) {
  const undone = /** @type {Undone} */ ({ moves: 0, presses: [], notches: 0, keys: 0, characters: 0 });
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

/** @param {Undone[]} all in words; moves count only where they are all */
function named(all) {
  const presses = all.flatMap((undone) => undone.presses);
  const parts = presses.map(({ button, x, y }) => `${button} click${x === null ? "" : ` at (${x}, ${y})`}`);
  /** @type {(of: "keys" | "characters" | "notches" | "moves", one: string, many?: string) => void} */
  const add = (of, one, many) => {
    const sum = all.reduce((before, undone) => before + undone[of], 0);
    if (sum) parts.push(count(sum, one, many));
  };
  add("keys", "key");
  add("characters", "character");
  add("notches", "notch", "notches");
  if (!parts.length) add("moves", "move");
  return parts.join(", ");
}
