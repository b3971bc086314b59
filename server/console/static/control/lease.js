/** Control of a machine as the server gives it: a lease, taken, renewed and given back. */

import { call, path, Problem, request } from "../server/api.js";

const RENEW_SECONDS = 10;
const AGAIN_SECONDS = 2;
const ANSWER_SECONDS = 8;
export const LEASE_SECONDS = 30;

/** @type {Set<Lease>} all that this page has */
const held = new Set();

// What cannot be given back then runs out by itself.
addEventListener("pagehide", () => void giveAllBack());

/** Give everything back; resolves when the server knows, or cannot be told. */
export async function giveAllBack() {
  await Promise.all([...held].map((lease) => lease.giveBack()));
}

/**
 * Take control, where somebody has it only with `takeOver`.  Throws the Problem of a refusal.
 * @type {(machineId: string, how: {takeOver: boolean, isPrivate: boolean}) => Promise<Lease>}
 */
export async function takeLease(machineId, { takeOver, isPrivate }) {
  const address = path`/v1/machines/${machineId}/control`;
  const asked = Date.now();
  /** @type {Answer<Control>} */
  const { data: control } = await call("POST", address, { body: { take_over: takeOver, private: isPrivate } });
  return new Lease({ address, control, asked });
}

/** A lease, renewed until its `signal` is aborted: then it is over. */
export class Lease {
  isGivenBack = false;
  #over = new AbortController();
  signal = this.#over.signal;
  #isRenewing = false;
  #renewed = 0;
  #next = 0;
  #end = 0;

  /** @param {{address: string, control: Control, asked: number}} parts: the last is when it was asked for */
  constructor({ address, control: { id, by, since }, asked }) {
    this.id = id;
    this.by = by;
    this.since = since;
    this.address = address + path`/${id}`;
    held.add(this);
    this.#lastsFrom(asked);
  }

  /** Whether it has run out by this computer's clock, which also goes on while that sleeps. */
  get hasRunOut() {
    return Date.now() - this.#renewed > (LEASE_SECONDS - 1) * 1000;
  }

  /** Renew it now, which also finds out whether the server still knows it. */
  async renew() {
    if (this.#isRenewing || this.signal.aborted) return;
    this.#isRenewing = true;
    clearTimeout(this.#next);
    const asked = Date.now();
    const signal = AbortSignal.any([this.signal, AbortSignal.timeout(ANSWER_SECONDS * 1000)]);
    try {
      await call("PUT", this.address, { signal });
      this.#lastsFrom(asked);
    } catch (error) {
      if (error instanceof Problem && error.problem === "control-ended") this.lose();
      else this.#renewIn(AGAIN_SECONDS);
    } finally {
      this.#isRenewing = false;
    }
  }

  /** Have the machine to oneself, or not, from now on.  Throws what is in the way. */
  async makePrivate(/** @type {boolean} */ isPrivate) {
    await call("PATCH", this.address, { body: { private: isPrivate }, signal: this.signal });
  }

  /** It is over: the server says so, or must have ended it by now. */
  lose() {
    clearTimeout(this.#next);
    clearTimeout(this.#end);
    held.delete(this);
    this.#over.abort();
  }

  /** End it, also while the page goes away.  What cannot be given back runs out by itself. */
  async giveBack() {
    if (this.signal.aborted) return;
    this.isGivenBack = true;
    this.lose();
    const signal = AbortSignal.timeout(ANSWER_SECONDS * 1000);
    await request("DELETE", this.address, { keepalive: true, signal }).catch(() => {});
  }

  /** @param {number} time of the question: the server may have begun to count any time since then */
  #lastsFrom(time) {
    this.#renewed = time;
    clearTimeout(this.#end);
    this.#end = setTimeout(() => this.lose(), time + LEASE_SECONDS * 1000 - Date.now());
    this.#renewIn(RENEW_SECONDS);
  }

  #renewIn(/** @type {number} */ seconds) {
    clearTimeout(this.#next);
    this.#next = setTimeout(() => void this.renew(), seconds * 1000);
  }
}
