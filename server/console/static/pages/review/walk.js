/** The steps of a trajectory, gone through one by one: each on its picture, before and after. */

import { keepChosen, place } from "../../parts/address.js";
import { html, useEffect, useLayoutEffect, useMade, useState } from "../../parts/elements.js";
import { useKeys } from "../../parts/keys.js";
import { KeptPictures } from "../../parts/kept_pictures.js";
import { Picture } from "../../parts/picture.js";
import { Toggle } from "../../parts/pieces.js";
import { path } from "../../server/api.js";
import { boxOf, pictureAfter, pictureOf, readStep, recorded } from "../steps.js";
import { Comparison } from "./comparison.js";
import { Edits } from "./editing.js";
import { Film } from "./film.js";
import { Key } from "./key.js";

/** Browsers refuse to change the address all the time, as somebody who holds an arrow key would. */
const ADDRESS_MILLISECONDS = 150;
/** How long each picture stands while the steps are played. */
const PLAY_MILLISECONDS = 1000;
/** The pictures that are there before one asks for them: of which step, counted from the one that is shown, and which of it. @type {[number, (step: Step) => string][]} */
const NEAR = [[0, pictureOf], [1, pictureOf], [0, pictureAfter], [1, pictureAfter], [-1, pictureOf], [2, pictureOf], [2, pictureAfter]];

/** @param {StepsProperties} properties of what is gone through, and changed by whoever may */
export function Steps({ reading, trajectory, steps, mayEdit }) {
  const { id, dimensions: size, original_input_values } = trajectory;
  const last = steps.length - 1;
  const [at, go] = useStep(path`/trajectories/${id}`, last);
  const step = steps[at] ?? {};
  const [isAfter, turn] = useAfter(at, step);
  const [isPlaying, play] = usePlay({ at, last, go, isAfter, turn, step });
  const pictures = useNear(steps, at);
  const { text, places } = readStep(step, size);
  const source = isAfter ? pictureAfter(step) : pictureOf(step);
  const marks = isAfter ? {} : { places, box: boxOf(step) };
  const values = Object.entries(original_input_values);
  return html`<div class="split">
    <div>
      <${Picture} source=${source} read=${pictures.read} size=${size} places=${[]} ...${marks} label=${isAfter ? `After: ${text}` : text} />
      <div class="row">
        <button type="button" aria-keyshortcuts="k ArrowLeft" disabled=${at === 0} onClick=${() => go(at - 1)}>‹ Previous <${Key} name="K" /></button>
        <button type="button" aria-keyshortcuts="j ArrowRight" disabled=${at === last} onClick=${() => go(at + 1)}>Next › <${Key} name="J" /></button>
        <button type="button" aria-keyshortcuts="p" disabled=${last === 0} onClick=${play}>${isPlaying ? "Pause" : "Play"} <${Key} name="P" /></button>
        ${pictureAfter(step) && html`<${Toggle} isOn=${isAfter} click=${turn} aria-keyshortcuts="f">After it <${Key} name="F" /><//>`}
      </div>
      ${mayEdit && html`<${Edits} reading=${reading} step=${step} number=${at + 1} />`}
      <p class="small" role="status">Step ${at + 1} of ${steps.length}: ${text}</p>
      <pre tabindex="0">${recorded(step)}</pre>
    </div>
    <aside>
      <h2>Steps</h2>
      <${Comparison} trajectory=${trajectory} steps=${steps} go=${go} />
      <${Film} steps=${steps} size=${size} at=${at} go=${go} />
      ${values.length > 0 && html`<h2>Input values</h2>
        <dl class="facts">${values.map(([name, value]) => html`<dt dir="auto">${name}</dt><dd dir="auto">${typeof value === "string" ? value : JSON.stringify(value)}</dd>`)}</dl>`}
    </aside>
  </div>`;
}

/**
 * The step that is shown, counted from 0, which the address tells counted from 1; the arrow keys move it, and j and k.
 * @type {(page: string, last: number) => [number, (at: number) => void]}
 */
function useStep(page, last) {
  const [wanted, go] = useState(() => (Number.parseInt(place().query.get("step") ?? "", 10) || 1) - 1);
  const within = (/** @type {number} */ step) => Math.min(Math.max(step, 0), last);
  const at = within(wanted);
  useEffect(() => {
    const timer = setTimeout(() => keepChosen(page, { step: at ? String(at + 1) : "" }), ADDRESS_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [at]);
  const by = (/** @type {number} */ steps) => () => go((before) => within(within(before) + steps));
  useKeys({ ArrowLeft: by(-1), ArrowRight: by(1), k: by(-1), j: by(1) });
  return [at, go];
}

/**
 * Whether a step is shown as it left the screen, and how to turn that round; each step begins with what it found.
 * @type {(at: number, step: Step) => [boolean, () => void]}
 */
function useAfter(at, step) {
  const [isTurned, set] = useState(false);
  const isAfter = isTurned && pictureAfter(step) !== "";
  const turn = () => set(!isAfter);
  useLayoutEffect(() => set(false), [at]);
  useKeys({ f: turn });
  return [isAfter, turn];
}

/**
 * Whether the steps go on by themselves, and how to start and stop that; from the last one they begin anew.
 * @type {(walk: {at: number, last: number, go: (at: number) => void, isAfter: boolean, turn: () => void, step: Step}) => [boolean, () => void]}
 */
function usePlay({ at, last, go, isAfter, turn, step }) {
  const [isPlaying, set] = useState(false);
  const hasAfter = pictureAfter(step) !== "";
  useEffect(() => {
    if (!isPlaying) return undefined;
    const timer = setTimeout(() => {
      if (hasAfter && !isAfter) turn();
      else if (at < last) go(at + 1);
      else set(false);
    }, PLAY_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [isPlaying, at, isAfter]);
  function play() {
    if (!isPlaying && at === last) go(0);
    set(!isPlaying);
  }
  useKeys({ p: play });
  return [isPlaying, play];
}

/** @type {(steps: Step[], at: number) => KeptPictures} with the pictures of the step that is shown, and then of those beside it */
function useNear(steps, at) {
  const pictures = useMade((signal) => new KeptPictures(signal));
  useEffect(() => {
    const near = NEAR.map(([by, read]) => read(steps[at + by] ?? {})).filter(Boolean);
    void pictures.prepare([...new Set(near)]);
  }, [steps, at]);
  return pictures;
}
