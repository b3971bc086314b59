/** Below the picture, while one is in control: a field for a text, and the machine's clipboard. */

import { html, useEffect, useRef } from "../parts/elements.js";
import { Field, WorkButton } from "../parts/pieces.js";
import { count } from "../parts/words.js";
import { wordsOf } from "../server/api.js";

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

/** @param {{control: import("./machine_control.js").MachineControl}} properties */
export function TextPanel({ control }) {
  /** @type {(words: string, kind?: Kind) => void} */
  const note = (words, kind = "good") => control.note(words, kind);
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const text = () => field.current?.value ?? "";

  /** @param {Event} event */
  function typeIt(event) {
    event.preventDefault();
    const obstacle = whyNotTyped(text());
    if (obstacle) {
      note(`${obstacle} Nothing was typed.`, "bad");
      return;
    }
    note("");
    control.hand?.send(...typed(text()));
    if (field.current) field.current.value = "";
  }

  /** @type {(work: (clipboard: import("./clipboard.js").Clipboard) => Promise<string>) => Promise<void>} */
  async function copying(work) {
    if (!control.clipboard) return;
    note("");
    try {
      note(await work(control.clipboard));
    } catch (error) {
      note(wordsOf(error), "bad");
    }
  }

  const put = () => copying(async (clipboard) => {
    if (!text()) return "";
    await clipboard.put(text());
    return `Copied ${sized(text())} to the machine.`;
  });
  // To the field where the browser keeps its own clipboard.
  const fetchIt = () => copying(async (clipboard) => {
    const copied = await clipboard.fetch();
    if (!copied.text) return "Nothing was copied on the machine.";
    if (copied.isCopied) return `Copied ${sized(copied.text)} from the machine.`;
    if (control.panel !== "text") control.open("text");
    if (field.current) field.current.value = copied.text;
    field.current?.select();
    return `Your browser keeps its clipboard to itself: copy the ${sized(copied.text)} from the field.`;
  });
  useEffect(() => {
    const copy = () => void fetchIt();
    control.addEventListener("copy", copy);
    return () => control.removeEventListener("copy", copy);
  }, []);

  /** @param {KeyboardEvent} event */
  function keyed(event) {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    field.current?.form?.requestSubmit();
  }

  /** @param {string} id */
  const area = (id) => html`<textarea
    id=${id} ref=${field} rows="2" autocomplete="off" autocapitalize="off" spellcheck="false"
    aria-keyshortcuts="Control+Enter" onKeyDown=${keyed}
  ></textarea>`;
  return html`<form class="row texts" onSubmit=${typeIt}>
    <${Field} label="Text" make=${area} />
    <div class="row">
      <button>Type it</button>
      ${control.mayCopy && html`
        <${WorkButton} work=${put}>Copy to machine<//>
        <${WorkButton} work=${fetchIt} aria-keyshortcuts="Control+Alt+Shift+C">Copy from machine<//>
      `}
    </div>
    ${!control.mayCopy && html`<p class="small">Your token lacks the scope clipboard, so what is copied stays on its side.</p>`}
  </form>`;
}

/** @param {string} text */
function sized(text) {
  return count(Array.from(text).length, "character");
}
