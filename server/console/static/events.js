/**
 * The server's events, read with fetch and not with EventSource: that tells neither why a stream
 * was refused nor that a silent one is dead.
 */

import { request } from "./api.js";
import { pause } from "./dom.js";

const SILENCE_SECONDS = 40;
const POLL_SECONDS = 5;
const SHORTEST_WAIT = 500;
const LONGEST_WAIT = 10_000;
const MAX_LINE = 4 * 1024 * 1024;

/**
 * Dispatches "machine", "machine_removed", "machine_released", "command" and "trajectory" with their
 * data as detail;
 * "reset" when everything has to be read again; and "state" when `state` has changed: connecting,
 * live, lost, or polling with a server that has no events.  Sleeps while nobody sees the page,
 * so that many open tabs do not use up the browser's connections.
 */
export class Events extends EventTarget {
  state = "connecting";
  /** Why the server refuses the stream, in its words; empty where it does not. */
  refusal = "";
  #running = null;
  #lastId = "";
  #wait = SHORTEST_WAIT;

  start() {
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
      this.#run(this.#running.signal);
    }
  };

  async #run(signal) {
    while (!signal.aborted) {
      const attempt = new AbortController();
      const both = AbortSignal.any([signal, attempt.signal]);
      try {
        await this.#read(both, attempt);
      } catch (error) {
        if (signal.aborted || error.status === 401) return;
        if (error.status === 404) return this.#poll(signal);
        this.refusal = error.status ? error.message : "";
      }
      if (signal.aborted) return;
      this.#say("lost");
      await pause(this.#wait * (0.75 + Math.random() / 2), signal);
      this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
    }
  }

  async #read(signal, attempt) {
    const resumed = this.#lastId !== "";
    const headers = resumed ? { "Last-Event-ID": this.#lastId } : {};
    let alive = setTimeout(() => attempt.abort(), SILENCE_SECONDS * 1000);
    try {
      const response = await request("GET", "v1/events", { signal, headers });
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

  #take({ id, type, data }) {
    if (id !== null) this.#lastId = id;
    if (!data) return;
    let detail = null;
    try {
      detail = JSON.parse(data);
    } catch {
      // One that this page cannot read leaves nothing to trust: read everything again.
      type = "reset";
    }
    this.#tell(type, detail);
  }

  async #poll(signal) {
    this.#say("polling");
    while (!signal.aborted) {
      this.#tell("reset");
      await pause(POLL_SECONDS * 1000, signal);
    }
  }

  #tell(type, detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  #say(state) {
    if (this.state === state) return;
    this.state = state;
    this.dispatchEvent(new Event("state"));
  }
}

/** The events of a body, as the HTML standard reads them; null for each sign of life. */
export async function* eventsIn(body) {
  let event = { id: null, type: "message", data: "" };
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
    const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line);
    if (name === "data") data.push(value);
    else if (name === "event") event.type = value;
    else if (name === "id" && !value.includes("\0")) event.id = value;
  }
}

async function* linesOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      if (rest.length > MAX_LINE) throw new Error("the event stream sent an endless line");
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop();
      yield* lines;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
