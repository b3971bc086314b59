/** How a trajectory begins, for a list of them: its first picture in small, and who showed it. */

import { html, useState } from "../../parts/elements.js";
import { get, path, query } from "../../server/api.js";
import { membersOf, pictureOf } from "../steps.js";
import { Small } from "./small.js";

/** @param {{trajectory: Trajectory}} properties of one of the list, whose first step is read once it is in sight */
export function FirstLook({ trajectory: { id, dimensions, step_count } }) {
  const [author, learn] = useState("");
  async function read(/** @type {AbortSignal} */ signal) {
    const first = query(path`v1/trajectories/${id}/steps`, { limit: 1 });
    const { items } = /** @type {Part<{step: Step}>} */ (await get(first, signal));
    const step = items[0]?.step ?? {};
    const { token_name } = membersOf(step.by);
    learn(typeof token_name === "string" ? token_name : "");
    return pictureOf(step);
  }
  if (!step_count) return null;
  return html`<${Small} read=${read} size=${dimensions} />${author && html`<small dir="auto">${author}</small>`}`;
}
