/** The trajectory that is reviewed next: read while one still writes why, so that it is there with the decision. */

import { backTo } from "../../parts/address.js";
import { isPictureId } from "../../parts/picture.js";
import { bytesWithId } from "../../parts/picture_bytes.js";
import { call, get, path, query } from "../../server/api.js";
import { pictureOf } from "../steps.js";

/** Of those that wait: one may be what was decided about, as it was a moment ago. */
const TWO = 2;
/** Later somebody else may have decided about it. */
const FRESH_MILLISECONDS = 10_000;

/** @type {{address: string, answer: Promise<Answer<Trajectory>>} | null} what the next page shows, unless that is about another */
let handed = null;

export const addressOf = (/** @type {string} */ id) => path`/v1/trajectories/${id}`;

/** @type {(address: string) => Promise<Answer<Trajectory> | null>} what was read of it a moment ago, once; null where that is nothing */
export function takeHanded(address) {
  const taken = handed;
  handed = null;
  return taken?.address === address ? taken.answer.catch(() => null) : Promise.resolve(null);
}

/** What may be decided about next, after one trajectory. */
export class Next {
  #began = performance.now();
  /** @type {Promise<Trajectory | null>} */
  #found;
  /** @type {Promise<Answer<Trajectory> | null>} */
  #answer;

  constructor(/** @type {Trajectory} */ decided) {
    this.decided = decided;
    this.#found = nextOpen(decided);
    this.#answer = this.#read();
    // Whoever opens it says what is wrong.
    this.#answer.catch(() => null);
  }

  /** @type {() => Promise<string | null>} the id of what the next page is about, which is handed to it; null where nothing waits */
  async open() {
    if (performance.now() - this.#began > FRESH_MILLISECONDS) return new Next(this.decided).open();
    const found = await this.#found.catch(() => null);
    const answer = this.#answer.then((read) => read ?? Promise.reject(new Error("Nothing waits.")));
    answer.catch(() => null);
    handed = found && { address: addressOf(found.id), answer };
    return found?.id ?? null;
  }

  async #read() {
    const found = await this.#found;
    if (!found) return null;
    /** @type {Answer<Trajectory>} */
    const answer = await call("GET", addressOf(found.id));
    const first = pictureOf(answer.data.trajectory_data?.[0] ?? {});
    if (isPictureId(first)) bytesWithId(first, null).catch(() => null);
    return answer;
  }
}

/**
 * The next newer one that nobody has decided about, of the workflow, the machine, the author and the search that the list was left with; behind the newest comes the oldest.
 * @type {(decided: Trajectory) => Promise<Trajectory | null>}
 */
async function nextOpen({ id, created_at }) {
  const left = new URLSearchParams(backTo("/trajectories").split("?")[1]);
  const chosen = (/** @type {string} */ name) => left.get(name) ?? "";
  const narrowed = Object.fromEntries(["workflow_id", "machine_id", "author_id", "search"].map((name) => [name, chosen(name)]));
  const asked = { ...narrowed, review_state: "open", is_approved: "false", steps: "false", sort: "created_at", limit: TWO };
  for (const range of [{ created_at_from: created_at }, { created_at_to: created_at }]) {
    const { items } = /** @type {Part<Trajectory>} */ (await get(query("v1/trajectories", { ...asked, ...range })));
    const found = items.find((each) => each.id !== id);
    if (found) return found;
  }
  return null;
}
