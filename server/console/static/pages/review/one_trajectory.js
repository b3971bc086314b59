/** A trajectory for as long as a page shows it: as it was read, whether it is still so, and what is decided about it. */

import { Reading } from "../../parts/reading.js";
import { call, get, path, request, statusOf, wordsOf } from "../../server/api.js";
import { addressOf, takeHanded } from "./next.js";

/** What was asked cannot be done any more: its content is another by now, or about to be. */
export class Outdated extends Error {}

/** A trajectory as it was read, whether it is still so, and its approval. */
export class OneTrajectory extends Reading {
  trajectory = /** @type {Trajectory | null} */ (null);
  /** The name of its workflow, once that is known. */
  workflow = "";
  /** @type {"" | "changed" | "deleted"} by somebody else since */
  news = "";
  tag = "";
  /** All that this page does itself. @type {Promise<unknown>} */
  #changing = Promise.resolve();
  #isEditing = false;
  #isRemoved = false;
  /** Whether one was told of a change while it was being read. */
  #isDoubted = false;

  constructor(/** @type {Watched & {id: string}} */ { id, ...page }) {
    super(page);
    this.address = addressOf(id);
    page.events.on("trajectory", ({ detail }) => detail.id === id && this.reset(), page.signal);
  }

  /** @override */ async load() {
    this.#isDoubted = false;
    const handed = await takeHanded(this.address);
    /** @type {Answer<Trajectory>} */
    const { data, headers } = handed ?? (await call("GET", this.address, { signal: this.loading }));
    Object.assign(this, { trajectory: data, tag: headers.get("ETag"), news: "" });
    // It may have changed in the moment since.
    if (handed || this.#isDoubted) void this.#check();
    if (!this.workflow) void this.#readWorkflow(data.workflow_id);
  }

  /** Read it again, because one was told that it has changed.  Throws what is to be said to the person. */
  readAgain = async () => {
    await this.read();
    if (statusOf(this.error) === 404) this.#say("deleted");
    if (this.error) throw new Error(wordsOf(this.error));
  };

  /** @param {string} id of a workflow that may have been deleted, or never made here: its name is only pleasant to have */
  async #readWorkflow(id) {
    const found = /** @type {Workflow | null} */ (await get(path`/v1/workflows/${id}`, this.signal).catch(() => null));
    this.workflow = found?.name ?? "";
    this.tell();
  }

  /** What a person sees now, and is asked about. @returns {Shown} */
  get shown() {
    return { tag: this.tag, content_hash: this.trajectory?.content_hash };
  }

  /**
   * Approve, reject or withdraw exactly what was shown, and say why.  Throws what is to be said to the person.
   * @type {(decision: Decision, comment?: string, shown?: Shown) => Promise<void>}
   */
  decide = (decision, comment = "", shown = this.shown) => this.#own(this.#decide(decision, comment, shown));

  /** @template Result @param {Promise<Result>} work of this page's own, which is no news @returns {Promise<Result>} */
  #own(work) {
    this.#changing = Promise.allSettled([this.#changing, work]);
    return work;
  }

  /** @type {(decision: Decision, comment: string, shown: Shown) => Promise<void>} */
  async #decide(decision, comment, { tag, content_hash }) {
    const body = { decision, content_hash, comment: comment || null };
    /** @type {Answer<Trajectory>} */
    const { data, headers } = await this.#asShown(() => call("POST", `${this.address}/review`, { body, headers: { "If-Match": tag } }));
    const { review, is_approved } = data;
    Object.assign(this, { trajectory: { ...this.trajectory, review, is_approved }, tag: headers.get("ETag") });
    this.tell();
  }

  /**
   * Do what is about exactly what is shown; where that is another by now, it is read, and the person told.
   * @template Result @param {() => Promise<Result>} work @returns {Promise<Result>}
   */
  async #asShown(work) {
    try {
      return await work();
    } catch (error) {
      if (statusOf(error) === 404) this.#say("deleted");
      if (statusOf(error) !== 412) throw error;
      await this.read();
      throw new Outdated("Nothing was done: somebody has changed it since you read it. What you see now is how it is.");
    }
  }

  /**
   * Change a step of what was shown, or remove it where there is no change, and read what that made of it all; whether it has changed.
   * Throws what is to be said to the person.
   * @type {(number: number, change: object | null, shown: Shown) => Promise<boolean>}
   */
  edit = (number, change, shown) => {
    // Its number may be another's by then.
    if (this.#isEditing) return Promise.reject(new Outdated("Nothing was done: the change before was still under way."));
    return this.#own(this.#edit(number, change, shown));
  };

  /** @type {(number: number, change: object | null, shown: Shown) => Promise<boolean>} */
  async #edit(number, change, { tag }) {
    const address = `${this.address}/steps/${number}`;
    this.#isEditing = true;
    try {
      await this.#asShown(() => call(change ? "PATCH" : "DELETE", address, { ...(change && { body: change }), headers: { "If-Match": tag } }));
      await this.read();
    } finally {
      this.#isEditing = false;
    }
    if (this.error) throw new Outdated(`It was done, and could not be read again: ${wordsOf(this.error)}`);
    return this.tag !== tag;
  }

  /**
   * Change what is no step of what is shown.  Throws what is to be said to the person.
   * @type {(change: object) => Promise<void>}
   */
  change = (change) => this.#own(this.#change(change));

  /** @type {(change: object) => Promise<void>} */
  async #change(change) {
    const headers = { "If-Match": this.tag };
    /** @type {Answer<Trajectory>} */
    const answer = await this.#asShown(() => call("PATCH", this.address, { body: change, headers }));
    Object.assign(this, { trajectory: answer.data, tag: answer.headers.get("ETag") });
    this.tell();
  }

  /** Delete exactly what is shown.  Throws what is to be said to the person. */
  remove = () => this.#own(this.#remove());

  async #remove() {
    await this.#asShown(() => call("DELETE", this.address, { headers: { "If-Match": this.tag } }));
    this.#isRemoved = true;
  }

  /** @override */ reset() {
    this.#isDoubted = this.isReading;
    void this.#check();
  }

  /** See whether it is still as it is here; what this page changes itself is no news. */
  async #check() {
    await this.#changing;
    if (!this.trajectory) return;
    const { tag } = this;
    try {
      const answer = await request("GET", this.address, { headers: { "If-None-Match": tag }, signal: this.signal });
      await answer.body?.cancel();
      // Nor is what it has begun to change meanwhile.
      await this.#changing;
      if (answer.status !== 304 && tag === this.tag) this.#say("changed");
    } catch (error) {
      await this.#changing;
      if (statusOf(error) === 404 && !this.#isRemoved) this.#say("deleted");
    }
  }

  #say(/** @type {OneTrajectory["news"]} */ news) {
    this.news = news;
    this.tell();
  }
}
