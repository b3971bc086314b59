/** What programs ask about the machine whose page one is on: taken with control, and answered as it is given back. */

import { html, useEffect, useRef, useState, useStore } from "../parts/elements.js";
import { AnswerButtons, Answering, WhatIsAsked } from "./answering.js";

/** @param {AskedHereProperties} properties; `taken` is the id of what somebody came here for */
export function AskedHere({ helps, machine, control, mayAnswer, taken }) {
  useStore(helps);
  useStore(control.screen);
  const { inControl, obstacle, isTaking } = useStore(control);
  const [answering, answer] = useState(/** @type {{asked: HelpRequest, answer: string} | null} */ (null));
  const open = helps.about(machine.id);
  const wanted = useRef(taken);
  const isWanted = open.some(({ id, kind }) => id === wanted.current && kind === "help");
  useEffect(() => {
    if (!isWanted || obstacle || inControl) return;
    // Once: whoever gives control back wants that.
    wanted.current = "";
    void control.take(false);
  }, [isWanted, obstacle, inControl]);
  if (!open.length && !answering) return null;
  return html`<section class="asked-here" aria-label="What programs ask">
    ${open.map((asked) => html`<div key=${asked.id} class="asked-help">
      <${WhatIsAsked} asked=${asked} />
      <div class="row">
        ${asked.kind === "help" && !inControl && html`<button
          type="button" class="primary" disabled=${obstacle !== ""} aria-disabled=${isTaking || null} onClick=${() => control.take(false)}
        >Take it</button>`}
        ${asked.kind === "help" && inControl && html`<span class="small">Give back:</span>`}
        ${mayAnswer && html`<${AnswerButtons} asked=${asked} choose=${(/** @type {string} */ chosen) => answer({ asked, answer: chosen })} />`}
      </div>
    </div>`)}
    ${answering && html`<${Answering}
      helps=${helps} ...${answering} close=${() => answer(null)} done=${() => answering.asked.kind === "help" && control.leave()}
    />`}
  </section>`;
}
