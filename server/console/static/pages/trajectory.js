/** One trajectory: its steps with their places on the picture, and its approval. */

import { backTo, keepChosen, place } from "../parts/address.js";
import { html, useEffect, useLayoutEffect, useMade, useMemo, useRef, useState, useStore, useTitle } from "../parts/elements.js";
import { useKeys } from "../parts/keys.js";
import { Picture } from "../parts/picture.js";
import { NotFound, Unread, WorkButton } from "../parts/pieces.js";
import { ApprovalBadge } from "../parts/states.js";
import { Ago } from "../parts/time.js";
import { count } from "../parts/words.js";
import { isNowhere, path } from "../server/api.js";
import { Decided, Decisions } from "./review/decisions.js";
import { OneTrajectory } from "./review/one_trajectory.js";
import { pictureOf, readStep, recorded } from "./steps.js";

const STEPS_LISTED = 100;
/** Browsers refuse to change the address all the time, as somebody who holds an arrow key would. */
const ADDRESS_MILLISECONDS = 150;

export function TrajectoryPage(/** @type {PageProperties} */ { id, ...page }) {
  const reading = useStore(useMade((signal) => new OneTrajectory({ id, ...page, signal })));
  const { trajectory, workflow, readAgain, news } = reading;
  useTitle(trajectory?.name || "Trajectory");
  const back = backTo("/trajectories");
  if (isNowhere(reading.error) && !trajectory) return html`<${NotFound} what="trajectory" back=${back} name="the trajectories" />`;
  if (!trajectory) return html`<${Unread} reading=${reading} />`;
  const { name, description, dimensions, trajectory_data, is_generated, review, created_at, updated_at } = trajectory;
  const mayApprove = is_generated && news !== "deleted" && page.me.scopes.includes("trajectories:approve");
  const said = [workflow, count(trajectory_data?.length ?? 0, "step"), `${dimensions.width} × ${dimensions.height}`];
  return html`<section>
    <p class="crumbs"><a href=${back}>‹ Trajectories</a></p>
    <div class="head">
      <h1 dir="auto">${name || "Without a name"}</h1>
      <span class="row">
        <${ApprovalBadge} ...${trajectory} />
        ${mayApprove && html`<${Decisions} reading=${reading} trajectory=${trajectory} />`}
      </span>
    </div>
    <p class="news" role="status" hidden=${!news}>
      ${news === "deleted" && html`Somebody has deleted this trajectory; what you see is all that is left of it. <a href=${back}>Back to the trajectories</a>`}
      ${news === "changed" && html`Somebody has changed this trajectory. <${WorkButton} work=${readAgain}>Read it again<//>`}
    </p>
    ${description && html`<p class="lead" dir="auto">${description}</p>`}
    ${review.by && html`<${Decided} review=${review} />`}
    <p class="small">${said.filter(Boolean).join(" · ")} · created <${Ago} time=${created_at} /> · updated <${Ago} time=${updated_at} /></p>
    ${trajectory_data?.length
      ? html`<${Steps} trajectory=${trajectory} steps=${trajectory_data} />`
      : html`<p class="empty">It has no steps yet: it is still to be generated.</p>`}
  </section>`;
}

/** @param {{trajectory: Trajectory, steps: Step[]}} properties */
function Steps({ trajectory: { id, dimensions: size, original_input_values }, steps }) {
  const last = steps.length - 1;
  const [at, go] = useStep(path`/trajectories/${id}`, last);
  const first = at - (at % STEPS_LISTED);
  const listed = useMemo(() => steps.slice(first, first + STEPS_LISTED).map((each) => readStep(each, size).text), [steps, first]);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => keepInSight(list.current), [at]);
  const step = steps[at] ?? {};
  const { text, places } = readStep(step, size);
  const values = Object.entries(original_input_values);
  return html`<div class="split">
    <div>
      <${Picture} source=${pictureOf(step)} size=${size} places=${places} label=${text} />
      <div class="row">
        <button type="button" disabled=${at === 0} onClick=${() => go(at - 1)}>‹ Previous</button>
        <button type="button" disabled=${at === last} onClick=${() => go(at + 1)}>Next ›</button>
        <p class="small" role="status">Step ${at + 1} of ${steps.length}: ${text}</p>
      </div>
      <pre tabindex="0">${recorded(step)}</pre>
    </div>
    <aside>
      <h2>Steps</h2>
      <ol class="steps" start=${first + 1} ref=${list}>
        ${listed.map((words, index) => html`<li><button
          type="button" aria-current=${first + index === at ? "step" : null} onClick=${() => go(first + index)}
        ><span class="number">${first + index + 1}</span>${words}</button></li>`)}
      </ol>
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

/** @param {HTMLElement | null} list whose current button is brought into sight, without moving the page */
function keepInSight(list) {
  const button = list?.querySelector("[aria-current]");
  if (!list || !button) return;
  const [inside, outside] = [button.getBoundingClientRect(), list.getBoundingClientRect()];
  list.scrollTop += Math.min(inside.top - outside.top, 0) + Math.max(inside.bottom - outside.bottom, 0);
}
