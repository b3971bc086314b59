/**
 * Sends inputs to a machine one after another, each under a key of its own, so that asking again
 * after a lost answer never presses twice.
 */

import { call, path, Problem, wordsOf } from "./api.js";
import { pause } from "./dom.js";
import { isControlEnded } from "./lease.js";
import { count } from "./words.js";

export const MAX_WAITING = 64;
const MAX_TEXT = 1000;
const TRY_AGAIN_MILLISECONDS = 8000;
const LONGEST_WAIT = 2000;

/** An Idempotency-Key; crypto.randomUUID exists with https only. */
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/**
 * The inputs of one person on one machine, while they have control of it.  `told(sentence, kind)`
 * hears what became of them.
 * What waits is joined where that changes nothing: characters to a text, notches to more notches.
 */
export class Inputs {
  /** @type {Input[]} */
  #waiting = [];
  #sending = false;
  #sent = Promise.resolve();
  /**
   * What the inputs are sent with.
   * @type {import("./lease.js").Lease | null}
   */
  #lease = null;
  /** How many were given up behind the one that is under way. */
  #givenUp = 0;
  /** Whether something was not sent since all was quiet: that stays said meanwhile. */
  #hasLost = false;

  /**
   * @param {string} machineId
   * @param {(sentence: string, kind: Kind) => void} told
   * @param {AbortSignal} signal
   */
  constructor(machineId, told, signal) {
    this.machineId = machineId;
    this.told = told;
    this.signal = signal;
  }

  get isIdle() {
    return !this.#sending && !this.#waiting.length;
  }

  /**
   * From now on inputs are sent with this lease.
   * @param {import("./lease.js").Lease} lease
   */
  begin(lease) {
    this.#lease = lease;
  }

  /**
   * Put an input behind the others: the end of its address, such as "mouse/click", and its body.
   * @template {keyof InputBodies} Name
   * @param {Name} operation
   * @param {InputBodies[Name]} body
   */
  send(operation, body) {
    if (this.isIdle) this.#hasLost = false;
    const next = /** @type {Input} */ ({ operation, body: { ...body } });
    const last = this.#waiting.at(-1);
    if (last && joined(last, next)) return;
    if (this.#waiting.length >= MAX_WAITING) {
      this.#hasLost = true;
      this.told("Too fast: what was done just now was not sent. Wait until the machine has caught up.", "bad");
      return;
    }
    this.#waiting.push(next);
    if (!this.#sending) this.#sent = this.#sendAll();
  }

  /** Resolves when what is under way is answered. */
  settled() {
    return this.#sent;
  }

  /** Control has ended: forget what has not been sent, and say so. */
  giveUp() {
    const dropped = this.drop();
    if (!dropped) return;
    this.#givenUp += dropped;
    this.#hasLost = true;
    this.told(`Control has ended: ${count(dropped, "input")} that waited ${wereNotSent(dropped)}`, "bad");
  }

  /** Forget what has not been sent. */
  drop() {
    const dropped = this.#waiting.length;
    this.#waiting = [];
    return dropped;
  }

  async #sendAll() {
    this.#sending = true;
    while (!this.signal.aborted) {
      const input = this.#waiting.shift();
      if (!input) break;
      try {
        await this.#sendOne(input);
        if (!this.#hasLost) this.told("", "good");
      } catch (error) {
        if (this.signal.aborted) break;
        // What was to follow was meant for a screen on which this had happened.
        const dropped = this.drop() + this.#givenUp;
        this.told(wordsOf(error) + (dropped ? ` ${dropped} more that waited behind it ${wereNotSent(dropped)}` : ""), "bad");
      }
    }
    this.#sending = false;
    this.#givenUp = 0;
  }

  /** @param {Input} input */
  async #sendOne({ operation, body }) {
    const address = path`/v1/computer/${this.machineId}/input/` + operation;
    const lease = this.#lease;
    /** @type {Record<string, string>} */
    const headers = { "Idempotency-Key": newKey() };
    if (lease) headers["Farhand-Control"] = lease.id;
    const until = performance.now() + TRY_AGAIN_MILLISECONDS;
    for (let wait = 200; ; wait = Math.min(wait * 2, LONGEST_WAIT)) {
      try {
        return await call("POST", address, { body, headers, signal: this.signal });
      } catch (error) {
        if (isControlEnded(error)) lease?.lose();
        if (this.signal.aborted || !mayAskAgain(error)) throw inWords(error);
        const again = Math.max(wait, error.retryAfter * 1000);
        if (performance.now() + again > until) throw inWords(error);
        await pause(again, this.signal);
      }
    }
  }
}

/**
 * Whether asking again with the same key can bring more; what is final stays as it is.
 * @param {unknown} error
 * @returns {error is Problem}
 */
function mayAskAgain(error) {
  if (!(error instanceof Problem) || error.members.final) return false;
  if (error.status === 0 || error.status === 429) return true;
  return ["outcome-pending", "idempotency-key-in-progress"].includes(error.problem);
}

/** @param {unknown} error */
function inWords(error) {
  if (!(error instanceof Problem)) return error;
  if (isControlEnded(error))
    return new Problem(error.status, "Control has ended: what was done last was not sent.");
  if (error.status !== 0 && error.problem !== "outcome-pending") return error;
  return new Problem(
    error.status,
    "It is not known whether this was carried out: no answer came in time. Look at the screen before you go on.",
  );
}

/** @param {number} dropped */
function wereNotSent(dropped) {
  return `${dropped === 1 ? "was" : "were"} not sent.`;
}

/**
 * Join an input to one that waits, where the two together are the same; whether that was done.
 * @param {Input} last
 * @param {Input} next
 */
function joined(last, next) {
  if (last.operation === "keyboard/type" && next.operation === "keyboard/type") {
    if ((last.body.text + next.body.text).length > MAX_TEXT) return false;
    last.body.text += next.body.text;
    return true;
  }
  if (last.operation === "keyboard/key" && next.operation === "keyboard/key") {
    if (last.body.text.length + next.body.text.length >= MAX_TEXT) return false;
    last.body.text += ` ${next.body.text}`;
    return true;
  }
  if (last.operation === "mouse/scroll" && next.operation === "mouse/scroll") {
    const [before, body] = [last.body, next.body];
    const isThere = before.x === body.x && before.y === body.y;
    if (!isThere || before.direction !== body.direction) return false;
    before.amount = Math.min(before.amount + body.amount, 100);
    return true;
  }
  return false;
}
