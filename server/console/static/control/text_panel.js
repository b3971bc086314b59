/** Below the picture, while one is in control: a field for a text, and the machine's clipboard. */

import { html, useEffect, useRef } from "../parts/elements.js";
import { Field, WorkButton } from "../parts/pieces.js";
import { count } from "../parts/words.js";
import { nameOf, wordsOf } from "../server/api.js";

const MOST_TYPED = 10_000;
const MOST_NAMED = 5;
/** What no key makes: control codes but Tab and the end of a line, and halves of a pair. */
const UNTYPED = /(?![\n\t\r])[\p{Cc}\p{Cs}]/gu;

/** @type {(text: string) => HandEvent[]} that type it, each 1,000 characters at most */
export const typed = (text) => (text.match(/.{1,1000}/gsu) ?? []).map((part) => ({ type: "text", text: part }));

/** @param {string} text why it cannot be typed, in words; the server would have typed a part of it before it says so */
function whyNotTyped(text) {
  const length = Array.from(text).length;
  if (length > MOST_TYPED)
    return `The text has ${count(length, "character")}, and ${count(MOST_TYPED, "character")} are typed at most.`;
  const untyped = text.match(UNTYPED) ?? [];
  if (!untyped.length) return "";
  const codes = [...new Set(untyped)].map((each) => `U+${each.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`);
  const more = codes.length > MOST_NAMED ? ", …" : "";
  return `No key types ${count(untyped.length, "character")} of it: ${codes.slice(0, MOST_NAMED).join(", ")}${more}.`;
}

export function TextPanel(/** @type {{control: MachineControl}} */ { control }) {
  const { outcome, clipboard, hand } = control;
  const field = useRef(control.typing);

  function typeIt(/** @type {Event} */ event) {
    event.preventDefault();
    const { value } = field.current;
    const obstacle = whyNotTyped(value);
    outcome.note(obstacle && `${obstacle} Nothing was typed.`, "bad");
    if (obstacle) return;
    hand?.send(...typed(value));
    field.current.value = "";
  }

  /** @type {(work: () => Promise<string>) => () => Promise<void>} */
  const noted = (work) => async () => {
    outcome.note("");
    try {
      outcome.note(await work());
    } catch (error) {
      if (nameOf(error) !== "AbortError") outcome.note(wordsOf(error), "bad");
    }
  };
  const put = noted(async () => {
    const { value } = field.current;
    if (!value) return "";
    await clipboard?.put(value);
    return `Copied ${sized(value)} to the machine.`;
  });
  const fetchIt = noted(async () => {
    const copied = await clipboard?.fetch();
    if (!copied) return "";
    if (!copied.text) return "Nothing was copied on the machine.";
    if (copied.isCopied) return `Copied ${sized(copied.text)} from the machine.`;
    // To the field where the browser keeps its own clipboard.
    if (control.panel !== "text") control.open("text");
    field.current.value = copied.text;
    field.current.select();
    return `Your browser keeps its clipboard to itself: copy the ${sized(copied.text)} from the field.`;
  });
  useEffect(() => {
    control.own.copy = fetchIt;
  }, [clipboard]);

  function keyed(/** @type {KeyboardEvent} */ event) {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    field.current.form?.requestSubmit();
  }

  return html`<form class="row texts" onSubmit=${typeIt}>
    <${Field} label="Text"><textarea
      ref=${field} rows="2" autocomplete="off" autocapitalize="off" spellcheck="false" aria-keyshortcuts="Control+Enter" onKeyDown=${keyed}
    ></textarea><//>
    <div class="row">
      <button>Type it</button>
      ${clipboard && html`
        <${WorkButton} work=${put}>Copy to machine<//>
        <${WorkButton} work=${fetchIt} aria-keyshortcuts="Control+Alt+Shift+C">Copy from machine<//>
      `}
    </div>
    ${!clipboard && html`<p class="small">Your token lacks the scope clipboard, so you cannot copy between your computer and the machine.</p>`}
  </form>`;
}

const sized = (/** @type {string} */ text) => count(Array.from(text).length, "character");
