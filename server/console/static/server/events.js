/**
 * The server's events, read with fetch and not with EventSource: that tells neither why a stream
 * was refused nor that a silent one is dead.
 */

import { request, statusOf, wordsOf } from "./api.js";
import { pause } from "../parts/waiting.js";

const SILENCE_SECONDS = 40;
const POLL_SECONDS = 5;
const SHORTEST_WAIT = 500;
const LONGEST_WAIT = 10_000;
const MAX_LINE = 4 * 1024 * 1024;
const TYPES = "machine,machine_removed,control_requested,command,trajectory";

/**
 * Dispatches "machine", "machine_removed", "control_requested", "command", "trajectory" and, for
 * whoever may read the audit, "audit", with their data as detail; "reset" when everything has to be
 * read again; and "state" when `state` has changed: connecting, live, lost, or polling with a server
 * that has no events.  Sleeps while nobody sees the page, so that many open tabs do not use up the
 * browser's connections.
 */
export class Events extends EventTarget {
  state = "connecting";
  /** Why the server refuses the stream, in its words; empty where it does not. */
  refusal = "";
  /** @type {AbortController | null} */
  #running = null;
  #lastId = "";
  #address = "";
  #wait = SHORTEST_WAIT;

  /**
   * Listen until the signal is aborted.
   * @template {keyof Told} Name
   * @param {Name} type
   * @param {(event: CustomEvent<Told[Name]>) => unknown} take
   * @param {AbortSignal} signal
   */
  on(type, take, signal) {
    this.addEventListener(type, /** @type {EventListener} */ (take), { signal });
  }

  /** @param {Session} me */
  start({ scopes }) {
    this.#address = `v1/events?types=${TYPES}${scopes.includes("audit:read") ? ",audit" : ""}`;
    document.addEventListener("visibilitychange", this.#look);
    this.#look();
  }

  stop() {
    document.removeEventListener("visibilitychange", this.#look);
    this.#running?.abort();
    this.#running = null;
    this.#lastId = "";
    this.#say("connecting");
  }

  #look = () => {
    if (document.hidden) {
      this.#running?.abort();
      this.#running = null;
    } else if (!this.#running) {
      this.#running = new AbortController();
      void this.#run(this.#running.signal);
    }
  };

  /** @param {AbortSignal} signal */
  async #run(signal) {
    while (!signal.aborted) {
      const attempt = new AbortController();
      const both = AbortSignal.any([signal, attempt.signal]);
      try {
        await this.#read(both, attempt);
      } catch (error) {
        if (signal.aborted || statusOf(error) === 401) return;
        if (statusOf(error) === 404) return this.#poll(signal);
        this.refusal = statusOf(error) ? wordsOf(error) : "";
        // Somebody with fewer scopes may have signed in beside us: then others ask for other events.
        if (statusOf(error) === 403) this.#tell("reset");
      }
      if (signal.aborted) return;
      this.#say("lost");
      await pause(this.#wait * (0.75 + Math.random() / 2), signal);
      this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
    }
  }

  /** @type {(signal: AbortSignal, attempt: AbortController) => Promise<void>} */
  async #read(signal, attempt) {
    const resumed = this.#lastId !== "";
    /** @type {Record<string, string>} */
    const headers = resumed ? { "Last-Event-ID": this.#lastId } : {};
    let alive = setTimeout(() => attempt.abort(), SILENCE_SECONDS * 1000);
    try {
      const response = await request("GET", this.#address, { signal, headers });
      this.refusal = "";
      this.#say("live");
      this.#wait = SHORTEST_WAIT;
      if (!resumed) this.#tell("reset");
      for await (const event of eventsIn(response.body)) {
        clearTimeout(alive);
        alive = setTimeout(() => attempt.abort(), SILENCE_SECONDS * 1000);
        if (event) this.#take(event);
      }
    } finally {
      clearTimeout(alive);
    }
  }

  /** @param {ServerEvent} event */
  #take({ id, type, data }) {
    if (id !== null) this.#lastId = id;
    if (!data) return;
    /** @type {unknown} */
    let detail;
    try {
      detail = JSON.parse(data);
    } catch {
      // One that this page cannot read leaves nothing to trust: read everything again.
      this.#tell("reset");
      return;
    }
    this.#tell(type, detail);
  }

  /** @param {AbortSignal} signal */
  async #poll(signal) {
    this.#say("polling");
    while (!signal.aborted) {
      this.#tell("reset");
      await pause(POLL_SECONDS * 1000, signal);
    }
  }

  /** @type {(type: string, detail?: unknown) => void} */
  #tell(type, detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  /** @param {string} state */
  #say(state) {
    if (this.state === state) return;
    this.state = state;
    this.dispatchEvent(new Event("state"));
  }
}

/**
 * The events of a body, as the HTML standard reads them; null for each sign of life.
 * @param {Response["body"]} body
 */
async function* eventsIn(body) {
  /** @type {ServerEvent} */
  let event = { id: null, type: "message", data: "" };
  /** @type {string[]} */
  let data = [];
  for await (const line of linesOf(body)) {
    if (line === "") {
      // One with an id alone is no event, but where to go on from.
      if (data.length || event.id !== null) yield { ...event, data: data.join("\n") };
      event = { id: null, type: "message", data: "" };
      data = [];
      continue;
    }
    yield null;
    const [, name, value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (name === "data") data.push(value);
    else if (name === "event") event.type = value;
    else if (name === "id" && !value.includes("\0")) event.id = value;
  }
}

/** @param {Response["body"]} body */
async function* linesOf(body) {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      if (rest.length > MAX_LINE) throw new Error("the event stream sent an endless line");
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
