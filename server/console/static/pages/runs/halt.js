/** Why a run is halted: the screen as it was recorded beside the screen as it is, and what can be done. */

import { html, useEffect, useMade, useState } from "../../parts/elements.js";
import { KeptPictures } from "../../parts/kept_pictures.js";
import { Picture } from "../../parts/picture.js";
import { Dialog, Field, textOf, Toggle, WorkButton } from "../../parts/pieces.js";
import { Ago } from "../../parts/time.js";
import { sentence } from "../../server/api.js";
import { boxOf, pictureOf, readStep } from "../steps.js";
import { ByHand } from "./by_hand.js";
import { middleOf, pointedAt, Pointing, useElements } from "./pointing.js";

/** What a repair needs beside what continues a run. */
const REPAIRS = /** @type {const} */ (["input:send", "trajectories:write", "screen:read"]);

/** @param {HaltProperties} properties of a run that does not go on by itself */
export function Halt({ reading, halted, mayWrite }) {
  const { step: number, detail, at, is_done, is_unknown } = halted;
  const [points, setPoints] = useState(false);
  const { run, me } = reading;
  // Nothing is done by it where the run has gone on meanwhile, and is halted anew.
  const goOn = (/** @type {object} */ how = {}) => reading.act("continue", { halted_at: at, ...how });
  const mayRepair = mayWrite && run?.machine_id && !run.secrets.length && REPAIRS.every((scope) => me.scopes.includes(scope));
  const mayPoint = mayRepair && !is_done && !is_unknown;
  return html`<section class="halt" aria-label="Halted">
    <h2>Halted at step ${number}</h2>
    <p role="status" dir="auto">${sentence(detail)}</p>
    <p class="small"><${Ago} time=${at} /> · ${is_unknown ? "Nobody knows whether the step was done" : is_done ? "The step was done" : "The step was not done"}</p>
    ${mayWrite && html`<div class="row">
      <${GoingOn} reading=${reading} halted=${halted} goOn=${goOn} />
      ${mayPoint && html`<${Toggle} isOn=${points} opens click=${() => setPoints(!points)} title="Show what the step is to be done to now">Point at it<//>`}
      ${mayRepair && html`<${ByHand} reading=${reading} halted=${halted} machine=${run?.machine_id} goOn=${goOn} />`}
    </div>`}
    ${points && mayPoint ? html`<${Pointed} reading=${reading} halted=${halted} goOn=${goOn} />` : html`<${Shown} reading=${reading} halted=${halted} />`}
  </section>`;
}

/** @param {HaltProperties & GoOnProperties} properties of the buttons that let it go on without a repair */
function GoingOn({ reading: { run, steps, trajectory }, halted: { step: number, is_done, is_unknown }, goOn }) {
  const [isAsked, ask] = useState(false);
  const close = () => ask(false);
  async function goOnAt(/** @type {FormData} */ values) {
    await goOn({ at_step: Number(textOf(values, "at_step")) });
    close();
  }
  const size = trajectory?.dimensions ?? { width: 1, height: 1 };
  const later = Array.from({ length: Math.max((run?.step_count ?? 0) - number, 0) }, (_, at) => number + at + 1);
  const nameOf = (/** @type {number} */ each) => `${each}${steps[each - 1] ? `: ${readStep(steps[each - 1] ?? {}, size).text}` : ""}`;
  return html`
    ${is_unknown
      ? html`<${WorkButton} class="primary" work=${() => goOn({ at_step: number })}>Do it again<//>`
      : html`<${WorkButton} class="primary" title=${is_done ? "Look once more at what it led to" : "Look for the step once more"} work=${() => goOn()}>Continue<//>`}
    <${WorkButton} title="Take the step for done, and go on behind it" work=${() => goOn({ skip: true })}>Skip<//>
    ${later.length > 0 && html`<button type="button" onClick=${() => ask(true)}>Continue at step…</button>`}
    ${isAsked && html`<${Dialog} title="Continue at which step?" submit=${goOnAt} close=${close}>
      <p class="small">Those before it that are not done are skipped.</p>
      <${Field} label="Step"><select name="at_step">${later.map((each) => html`<option key=${each} value=${each}>${nameOf(each)}</option>`)}</select><//>
      <div class="row"><button class="primary">Continue</button><button type="button" onClick=${close}>Cancel</button></div>
    <//>`}`;
}

/** @param {HaltProperties & GoOnProperties} properties of a halt at which somebody points at what is meant */
function Pointed({ reading, halted, goOn }) {
  const { elements, words } = useElements(reading.run?.machine_id ?? null);
  const [pointed, point] = useState(/** @type {import("./pointing.js").Pointed | null} */ (null));
  return html`
    <${Pointing} elements=${elements} words=${words} pointed=${pointed} point=${point} goOn=${goOn} />
    <${Shown} reading=${reading} halted=${halted} pointed=${pointed} click=${(/** @type {Place} */ place) => point(pointedAt(elements, place))} />`;
}

/** @param {{reading: OneRun, halted: Halted, pointed?: import("./pointing.js").Pointed | null, click?: (place: Place) => void}} properties of both pictures, and of what could be meant */
function Shown({ reading, halted: { step: number, picture, candidates }, pointed, click }) {
  const pictures = useMade((signal) => new KeptPictures(signal));
  const step = reading.steps[number - 1] ?? {};
  const recorded = pictureOf(step);
  return html`<div class="beside">
      ${recorded && reading.trajectory && html`<${Recorded} step=${step} read=${pictures.read} size=${reading.trajectory.dimensions} />`}
      ${picture && html`<${AsItIs} source=${picture} read=${pictures.read} candidates=${candidates} pointed=${pointed} click=${click} />`}
    </div>
    ${candidates.length > 0 && html`<ol>${candidates.map(({ at, score, text }) => html`<li dir="auto">
      ${text ?? "A place like it"}, ${score.toFixed(2)} ${click && at && html`<button type="button" class="quiet" onClick=${() => click(middleOf(at))}>This one</button>`}
    </li>`)}</ol>`}`;
}

/** @param {{step: Step, read: KeptPictures["read"], size: Size}} properties */
function Recorded({ step, read, size }) {
  const { text, places } = readStep(step, size);
  return html`<figure>
    <figcaption class="small">As it was recorded</figcaption>
    <${Picture} source=${pictureOf(step)} read=${read} size=${size} places=${places} box=${boxOf(step)} label=${text} />
  </figure>`;
}

/** @param {AsItIsProperties} properties of what the screen showed, with what could be meant, and what is pointed at */
function AsItIs({ source, read, candidates, pointed, click }) {
  const [size, learn] = useState({ width: 4, height: 3 });
  useEffect(() => {
    // Why it cannot be read is said where it is drawn.
    read(source).then(({ width, height }) => learn({ width, height }), () => null);
  }, [source]);
  const label = `The screen at the halt${candidates.length ? `, with ${candidates.length} places that could be meant` : ""}`;
  const marks = candidates.flatMap(({ at, score }) => (at ? [{ ...at, words: score.toFixed(2) }] : []));
  return html`<figure>
    <figcaption class="small">As it is</figcaption>
    <${Picture} source=${source} read=${read} size=${size} places=${pointed ? [pointed.place] : []} box=${pointed?.element?.bounds} marks=${marks} label=${label} click=${click} />
  </figure>`;
}

/** @typedef {import("./one_run.js").OneRun} OneRun */
