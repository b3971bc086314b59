/**
 * The server's events, read with fetch and not with EventSource: that tells neither why a stream
 * was refused nor that a silent one is dead.
 */

import { request, statusOf, wordsOf } from "./api.js";
import { pause } from "../parts/waiting.js";

const SILENCE_SECONDS = 40;
const SHORTEST_WAIT = 500;
const LONGEST_WAIT = 5000;
const MAX_EVENT = 4 * 1024 * 1024;
/** What no event is called: after it the server begins with "reset". */
const UNHEARD = "none";
const TYPES = "machine,machine_removed,control_requested,command,trajectory,recording,help_requested,help_answered,help_ended";
/** Told to whoever may read it as well. @type {[string, Scope][]} */
const OF_SCOPES = [["run", "runs:read"], ["audit", "audit:read"]];

/**
 * Dispatches all that is `Told`, with its data as detail; "reset" when everything has to be read again; and
 * "state" when `state` has changed: connecting, live or lost.  Sleeps while nobody sees the page, so that
 * many open tabs do not use up the browser's connections.
 */
export class Events extends EventTarget {
  state = "connecting";
  /** Why the server refuses the stream, in its words; empty where it does not. */
  refusal = "";
  #running = /** @type {AbortController | null} */ (null);
  #lastId = UNHEARD;
  #address = "";
  #wait = SHORTEST_WAIT;
  #isAwake = false;

  /** @type {<Name extends keyof Told>(type: Name, take: (event: CustomEvent<Told[Name]>) => unknown, until: AbortSignal) => void} */
  on(type, take, until) {
    this.addEventListener(type, /** @type {EventListener} */ (take), { signal: until });
  }

  start(/** @type {Session} */ { scopes }) {
    const more = OF_SCOPES.filter(([, scope]) => scopes.includes(scope));
    this.#address = `v1/events?types=${[TYPES, ...more.map(([type]) => type)].join(",")}`;
    document.addEventListener("visibilitychange", this.#look);
    this.#look();
  }

  stop() {
    document.removeEventListener("visibilitychange", this.#look);
    this.#running?.abort();
    this.#running = null;
    this.#address = "";
    this.#lastId = UNHEARD;
    this.#say("connecting");
  }

  /** @param {boolean} isAwake whether somebody wants to hear while nobody sees the page */
  stayAwake(isAwake) {
    this.#isAwake = isAwake;
    if (this.#address) this.#look();
  }

  #look = () => {
    if (document.hidden && !this.#isAwake) {
      this.#running?.abort();
      this.#running = null;
    } else if (!this.#running) {
      this.#running = new AbortController();
      void this.#run(this.#running.signal);
    }
  };

  async #run(/** @type {AbortSignal} */ signal) {
    while (!signal.aborted) {
      let refusal = "";
      try {
        await this.#read(signal);
      } catch (error) {
        if (signal.aborted || statusOf(error) === 401) return;
        if (statusOf(error)) refusal = wordsOf(error);
        // Somebody with fewer scopes may have signed in beside us: then others ask for other events.
        if (statusOf(error) === 403) this.#tell("reset");
      }
      if (signal.aborted) return;
      this.#say("lost", refusal);
      await pause(this.#wait * (0.75 + Math.random() / 2), signal);
      this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
    }
  }

  async #read(/** @type {AbortSignal} */ ending) {
    const silent = new AbortController();
    const signal = AbortSignal.any([ending, silent.signal]);
    const headers = { "Last-Event-ID": this.#lastId };
    let alive = setTimeout(() => silent.abort(), SILENCE_SECONDS * 1000);
    try {
      const response = await request("GET", this.#address, { signal, headers });
      this.#say("live");
      this.#wait = SHORTEST_WAIT;
      for await (const { id, event, data } of eventsIn(response.body)) {
        clearTimeout(alive);
        alive = setTimeout(() => silent.abort(), SILENCE_SECONDS * 1000);
        if (id) this.#lastId = id;
        if (event && data) this.#tell(event, JSON.parse(data));
      }
    } finally {
      clearTimeout(alive);
    }
  }

  #tell(/** @type {string} */ type, /** @type {unknown} */ detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  #say(/** @type {string} */ state, refusal = "") {
    if (this.state === state && this.refusal === refusal) return;
    Object.assign(this, { state, refusal });
    this.dispatchEvent(new Event("state"));
  }
}

/** @type {(body: Response["body"]) => AsyncGenerator<ServerEvent>} as the server writes them; signs of life, and an id alone, have no data */
async function* eventsIn(body) {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
      const blocks = (rest + read.value).split("\n\n");
      rest = blocks.pop() ?? "";
      if (rest.length > MAX_EVENT) throw new Error("the event stream sent an endless event");
      for (const block of blocks) yield /** @type {ServerEvent} */ (Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/))));
    }
  } finally {
    reader?.cancel().catch(() => {});
  }
}
