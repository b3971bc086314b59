/** Below the picture, while one is in control: a field for a text, and the machine's clipboard. */

import { wordsOf } from "../server/api.js";
import { h, setText } from "../parts/dom.js";
import { labelled, whileBusy } from "../parts/old_pieces.js";
import { count } from "../parts/words.js";

/** Of one input. */
const MAX_TEXT = 1000;
const MOST_TYPED = 10_000;
const MOST_NAMED = 5;
/** What no key makes: control codes but Tab and the end of a line, and halves of a pair. */
const UNTYPED = /[\p{Cc}\p{Cs}]/gu;

/**
 * The events that type a text.
 * @param {string} text
 * @returns {HandEvent[]}
 */
export function typed(text) {
  const characters = Array.from(text);
  /** @type {HandEvent[]} */
  const events = [];
  for (let begin = 0; begin < characters.length; begin += MAX_TEXT)
    events.push({ type: "text", text: characters.slice(begin, begin + MAX_TEXT).join("") });
  return events;
}

/**
 * Why a text cannot be typed, in words; empty where it can.
 * @param {string} text
 */
export function whyNotTyped(text) {
  const length = Array.from(text).length;
  if (length > MOST_TYPED)
    return `The text has ${count(length, "character")}, and ${count(MOST_TYPED, "character")} are typed at most.`;
  const untyped = (text.match(UNTYPED) ?? []).filter((character) => !"\n\t\r".includes(character));
  if (!untyped.length) return "";
  const codes = new Set(untyped.map((character) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`));
  const all = [...codes];
  const more = all.length > MOST_NAMED ? ", …" : "";
  return `No key types ${count(untyped.length, "character")} of it: ${all.slice(0, MOST_NAMED).join(", ")}${more}.`;
}

/** The field and its buttons; they do something while there is a `hand`. */
export class TextPanel {
  /** @type {import("./hand.js").Hand | null} */
  hand = null;
  /** @type {import("./clipboard.js").Clipboard | null} */
  clipboard = null;
  field = h("textarea", {
    rows: 2,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-keyshortcuts": "Control+Enter",
    keydown: (event) => this.#keyed(event),
  });
  noted = h("p", { class: "noted", role: "status" });
  putting = h("button", { type: "button", click: () => this.#put() }, "Copy to machine");
  fetching = h(
    "button",
    { type: "button", "aria-keyshortcuts": "Control+Alt+Shift+C", click: () => this.fetch() },
    "Copy from machine",
  );

  /** @param {boolean} mayCopy whether the token has the scope for it */
  constructor(mayCopy) {
    const lacks = "Your token lacks the scope clipboard, so what is copied stays on its side.";
    this.form = h(
      "form",
      { class: "row texts", submit: (event) => this.#type(event) },
      labelled("Text", this.field),
      h("div", { class: "row" }, h("button", {}, "Type it"), mayCopy && [this.putting, this.fetching]),
      !mayCopy && h("p", { class: "small" }, lacks),
      this.noted,
    );
  }

  /** Copy what was copied on the machine; to the field where the browser keeps its own clipboard. */
  fetch() {
    const { clipboard } = this;
    if (!clipboard) return;
    void this.#noting(this.fetching, async () => {
      const { text, isCopied } = await clipboard.fetch();
      const length = count(Array.from(text).length, "character");
      if (!text) return "Nothing was copied on the machine.";
      if (isCopied) return `Copied ${length} from the machine.`;
      this.field.value = text;
      this.field.select();
      return `Your browser keeps its clipboard to itself: copy the ${length} from the field.`;
    });
  }

  #put() {
    const { clipboard } = this;
    const text = this.field.value;
    if (!clipboard || !text) return;
    void this.#noting(this.putting, async () => {
      await clipboard.put(text);
      return `Copied ${count(Array.from(text).length, "character")} to the machine.`;
    });
  }

  /** @param {Event} event */
  #type(event) {
    event.preventDefault();
    const text = this.field.value;
    const obstacle = whyNotTyped(text);
    if (obstacle) {
      this.#note(`${obstacle} Nothing was typed.`, "bad");
      return;
    }
    this.#note("", "good");
    this.hand?.send(...typed(text));
    this.field.value = "";
  }

  /** @param {KeyboardEvent} event */
  #keyed(event) {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    this.form.requestSubmit();
  }

  /** @type {(button: HTMLButtonElement, work: () => Promise<string>) => Promise<void>} */
  #noting(button, work) {
    this.#note("", "good");
    return whileBusy(button, async () => {
      try {
        this.#note(await work(), "good");
      } catch (error) {
        this.#note(wordsOf(error), "bad");
      }
    });
  }

  /** @type {(words: string, kind: Kind) => void} */
  #note(words, kind) {
    setText(this.noted, words);
    this.noted.dataset.kind = kind;
  }
}
