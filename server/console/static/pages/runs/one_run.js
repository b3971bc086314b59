/** A run for as long as a page shows it: how far it is, as it goes on, and the trajectory whose steps it does. */

import { AGAIN_MILLISECONDS, Reading } from "../../parts/reading.js";
import { repeat } from "../../parts/waiting.js";
import { call, get, path, statusOf } from "../../server/api.js";

const NEWS_MILLISECONDS = 200;
/** For whoever may not hear of what happens. */
export const POLL_MILLISECONDS = 3000;

export class OneRun extends Reading {
  run = /** @type {RunWithSteps | null} */ (null);
  /** @type {Trajectory | null | undefined} null where it cannot be read, undefined while it may yet be */
  trajectory;

  constructor(/** @type {Watched & {id: string}} */ { id, ...page }) {
    super(page);
    this.me = page.me;
    this.address = path`/v1/runs/${id}`;
    page.events.on("run", ({ detail }) => detail.id === id && this.readIn(NEWS_MILLISECONDS), page.signal);
    if (!page.me.scopes.includes("machines:read")) repeat(() => this.keepUp(), POLL_MILLISECONDS, page.signal);
  }

  /** @override */ async load() {
    const { loading } = this;
    const run = /** @type {RunWithSteps} */ (await get(this.address, loading));
    if (this.trajectory === undefined) this.trajectory = await this.#found(run, loading);
    loading.throwIfAborted();
    this.run = run;
  }

  /** @type {(run: Run, signal: AbortSignal) => Promise<Trajectory | null | undefined>} A run can be looked at all the same. */
  async #found({ trajectory_id }, signal) {
    try {
      return /** @type {Trajectory} */ (await get(path`/v1/trajectories/${trajectory_id}`, signal));
    } catch (error) {
      if ((statusOf(error) || 500) < 429) return null;
      if (!signal.aborted) this.readIn(AGAIN_MILLISECONDS);
      return undefined;
    }
  }

  /** Its steps, where the trajectory is still what was approved and is run. @returns {Step[]} */
  get steps() {
    const isSame = this.run && this.trajectory?.content_hash === this.run.content_hash;
    return (isSame && this.trajectory?.trajectory_data) || [];
  }

  /** @type {(what: "continue" | "cancel", body?: object) => Promise<void>} Throws what is to be said to the person. */
  act = async (what, body) => {
    /** @type {Answer<RunWithSteps>} */
    const { data } = await call("POST", `${this.address}/${what}`, body ? { body } : {});
    this.hear("run", () => {
      this.run = data;
    });
    // It may have been at its end before this answer came.
    this.readIn(NEWS_MILLISECONDS);
  };

  /** @type {(secrets: Record<string, string>) => Promise<void>} begin it once more, and go there */
  retry = async (secrets) => {
    /** @type {Answer<RunWithSteps>} */
    const { data } = await call("POST", `${this.address}/retry`, { body: { sensitive_input_values: secrets } });
    location.hash = path`/runs/${data.id}`;
  };
}
