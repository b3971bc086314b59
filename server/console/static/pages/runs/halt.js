/** Why a run is halted: the screen as it was recorded beside the screen as it is, and what can be done. */

import { html, useEffect, useMade, useState } from "../../parts/elements.js";
import { KeptPictures } from "../../parts/kept_pictures.js";
import { Picture } from "../../parts/picture.js";
import { WorkButton } from "../../parts/pieces.js";
import { Ago } from "../../parts/time.js";
import { sentence } from "../../server/api.js";
import { boxOf, pictureOf, readStep } from "../steps.js";

/** @param {HaltProperties} properties of a run that does not go on by itself */
export function Halt({ reading, halted, mayWrite }) {
  const { step: number, detail, at, picture, candidates, is_done, is_unknown } = halted;
  const pictures = useMade((signal) => new KeptPictures(signal));
  const step = reading.steps[number - 1] ?? {};
  const recorded = pictureOf(step);
  const act = reading.act;
  return html`<section class="halt" aria-label="Halted">
    <h2>Halted at step ${number}</h2>
    <p role="status" dir="auto">${sentence(detail)}</p>
    <p class="small"><${Ago} time=${at} /> · ${is_unknown ? "Nobody knows whether the step was done" : is_done ? "The step was done" : "The step was not done"}</p>
    ${mayWrite && html`<div class="row">
      ${is_unknown
        ? html`<${WorkButton} class="primary" work=${() => act("continue", { at_step: number })}>Do it again<//>`
        : html`<${WorkButton} class="primary" title=${is_done ? "Look once more at what it led to" : "Look for the step once more"} work=${() => act("continue")}>Continue<//>`}
      <${WorkButton} title="Take the step for done, and go on behind it" work=${() => act("continue", { skip: true })}>Skip<//>
    </div>`}
    <div class="beside">
      ${recorded && reading.trajectory && html`<${Recorded} step=${step} read=${pictures.read} size=${reading.trajectory.dimensions} />`}
      ${picture && html`<${AsItIs} source=${picture} read=${pictures.read} candidates=${candidates} />`}
    </div>
    ${candidates.length > 0 && html`<ol>${candidates.map(({ score, text }) => html`<li dir="auto">${text ?? "A place like it"}, ${score.toFixed(2)}</li>`)}</ol>`}
  </section>`;
}

/** @param {{step: Step, read: KeptPictures["read"], size: Size}} properties */
function Recorded({ step, read, size }) {
  const { text, places } = readStep(step, size);
  return html`<figure>
    <figcaption class="small">As it was recorded</figcaption>
    <${Picture} source=${pictureOf(step)} read=${read} size=${size} places=${places} box=${boxOf(step)} label=${text} />
  </figure>`;
}

/** @param {{source: string, read: KeptPictures["read"], candidates: Candidate[]}} properties of what the screen showed, with what could be meant */
function AsItIs({ source, read, candidates }) {
  const [size, learn] = useState({ width: 4, height: 3 });
  useEffect(() => {
    // Why it cannot be read is said where it is drawn.
    read(source).then(({ width, height }) => learn({ width, height }), () => null);
  }, [source]);
  const label = `The screen at the halt${candidates.length ? `, with ${candidates.length} places that could be meant` : ""}`;
  const marks = candidates.flatMap(({ at, score }) => (at ? [{ ...at, words: score.toFixed(2) }] : []));
  return html`<figure>
    <figcaption class="small">As it is</figcaption>
    <${Picture} source=${source} read=${read} size=${size} places=${[]} marks=${marks} label=${label} />
  </figure>`;
}
