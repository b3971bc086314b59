/** A halted step that somebody does by hand: recorded meanwhile, and then proposed in its place. */

import { html, useEffect, useState } from "../../parts/elements.js";
import { WorkButton } from "../../parts/pieces.js";
import { call, listAll, path } from "../../server/api.js";

/** @param {HaltProperties & GoOnProperties & {machine: string}} properties of the buttons that begin it, and that say that it is done */
export function ByHand({ reading, halted, machine, goOn }) {
  const [recording, learn] = useState(/** @type {Recording | null} */ (null));
  useEffect(() => {
    const leaving = new AbortController();
    /** @type {Promise<Recording[]>} */
    const listing = listAll("v1/recordings", leaving.signal, { machine_id: machine });
    // Without it the step can be done by hand all the same.
    const isMine = (/** @type {Recording} */ { by, of, since, workflow_id }) => of === "me" && by === reading.me.token_name && since >= halted.at && workflow_id === reading.run?.workflow_id;
    listing.then((all) => learn(all.find(isMine) ?? null), () => null);
    return () => leaving.abort();
  }, [halted.at]);
  async function begin() {
    const body = { of: "me", name: `Step ${halted.step} by hand`, workflow_id: reading.run?.workflow_id };
    await call("POST", path`/v1/machines/${machine}/recordings`, { body });
    location.hash = path`/machines/${machine}`;
  }
  async function finish(/** @type {Recording} */ { id, trajectory_id }) {
    await call("POST", path`/v1/recordings/${id}/stop`);
    await goOn({ skip: true, by_hand: trajectory_id });
  }
  if (recording) return html`<${WorkButton} title="Go on behind the step, and propose what you did in its place" work=${() => finish(recording)}>Done by hand<//>`;
  return html`<${WorkButton} title="Take control and do the step yourself: what you do is recorded, and proposed in its place" work=${begin}>By hand<//>`;
}
