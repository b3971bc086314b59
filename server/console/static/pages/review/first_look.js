/** How a trajectory begins, for a list of them: its first picture in small, and who showed it, behind whose name is all of theirs. */

import { html, useState } from "../../parts/elements.js";
import { get, path, query } from "../../server/api.js";
import { membersOf, pictureOf } from "../steps.js";
import { Small } from "./small.js";

/** @param {{trajectory: Trajectory}} properties of one of the list, whose first step is read once it is in sight */
export function FirstLook({ trajectory: { id, dimensions, step_count } }) {
  const [by, learn] = useState(membersOf(null));
  async function read(/** @type {AbortSignal} */ signal) {
    const first = query(path`v1/trajectories/${id}/steps`, { limit: 1 });
    const { items } = /** @type {Part<{step: Step}>} */ (await get(first, signal));
    const step = items[0]?.step ?? {};
    learn(membersOf(step.by));
    return pictureOf(step);
  }
  if (!step_count) return null;
  return html`<${Small} read=${read} size=${dimensions} />${typeof by.token_name === "string" && html`<small dir="auto"><${Author} ...${by} name=${by.token_name} /></small>`}`;
}

/** @param {{name: string, user_id?: unknown, token_id?: unknown}} properties as a step has them; whoever is a user is known as that */
function Author({ name, user_id, token_id }) {
  const id = user_id ?? token_id;
  return typeof id === "string" ? html`<a href="#${query("/trajectories", { author_id: id })}">${name}</a>` : name;
}
