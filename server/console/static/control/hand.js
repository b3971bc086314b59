/** What a person does on a machine, as it happens: one websocket, and what became of all of it. */

import { HOME, sentence } from "../server/api.js";
import { pause } from "../parts/waiting.js";
import { isDone, undoneOf } from "./outcome.js";

const PROTOCOL = "farhand.hand.v1";
const MOST_EVENTS = 256;
const SLOW_MILLISECONDS = 1000;
const FIRST_WAIT = 200;
const LONGEST_WAIT = 2000;
const AWAY = "The connection was lost.";
const SENDING = "Sending…";
/** The server's close codes that end a hand for good: it was replaced, or control has ended. */
const FINAL = [4500, 4501];

/** A hand for as long as a lease lives.  What cannot be sent now is never sent later: it was meant for another screen. */
export class Hand {
  #socket = /** @type {WebSocket | null} */ (null);
  #sequence = 0;
  #pending = /** @type {HandEvent[]} */ ([]);
  /** @type {Batch[]} what is not acknowledged yet */
  #sent = [];
  /** What was said when the connection went; empty until then, when what is done waits for the first one. */
  #away = "";
  #isClosed = false;
  #wait = FIRST_WAIT;
  #timer = 0;
  /** Whether what is done waits for something else. */
  #isHeld = false;
  /** Whether something was lost since all was quiet: that stays said meanwhile. */
  #hasLost = false;
  /** Aborted when all that was done has its end, or nobody will tell any more. */
  #quiet = new AbortController();
  /** Called when the server has let go of all that was held, though the person has not. */
  released = () => {};

  /** @param {{lease: import("./lease.js").Lease, outcome: import("./outcome.js").Outcome}} parts: the latter hears what became of it */
  constructor({ lease, outcome }) {
    this.lease = lease;
    this.outcome = outcome;
    lease.signal.addEventListener("abort", () => this.#over());
    this.#connect();
  }

  send(/** @type {HandEvent[]} */ ...events) {
    if (!events.length || this.#isClosed) return;
    if (!this.#isOpen && this.#away) {
      this.#miss(events);
      return;
    }
    if (isDone(events) && !this.#awaits) this.#hasLost = false;
    if (!this.#pending.length) queueMicrotask(() => this.#flush());
    this.#pending.push(...events);
  }

  /**
   * Let these events, and what is done from now on, wait until what is returned is called; with words that
   * say why, they are not sent.
   * @param {HandEvent[]} events
   */
  hold(events) {
    this.#flush();
    const socket = this.#socket;
    this.#isHeld = true;
    return (words = "") => {
      this.#isHeld = false;
      const meanwhile = this.#pending.splice(0);
      const waiting = [...events, ...meanwhile];
      if (words) {
        this.#lose(words, undoneOf(waiting));
        // What went down before has to go up all the same.
        this.send(...meanwhile.filter((event) => "down" in event && !event.down));
      } else if (socket === this.#socket) this.send(...waiting);
      else this.#miss(waiting);
    };
  }

  /** @param {number} milliseconds to wait at most until all that was done has its end */
  async settled(milliseconds) {
    if (this.#sent.length || this.#pending.length) await pause(milliseconds, this.#quiet.signal);
  }

  /** Nothing more will be done. */
  close() {
    this.#isClosed = true;
    this.#socket?.close(1000);
    this.#sent = [];
    this.#pending = [];
    this.#watch();
  }

  get #isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Whether something is on its way that a person would miss. */
  get #awaits() {
    return isDone(this.#pending) || isDone(eventsOf(this.#sent));
  }

  #connect() {
    const address = new URL(`${this.lease.address.replace(/^\//, "")}/hand`, HOME);
    address.protocol = address.protocol.replace("http", "ws");
    const socket = new WebSocket(address, PROTOCOL);
    this.#socket = socket;
    socket.addEventListener("open", () => this.#opened());
    socket.addEventListener("message", ({ data }) => this.#heard(/** @type {HandMessage} */ (JSON.parse(String(data)))));
    socket.addEventListener("close", (event) => void this.#lost(event));
  }

  #opened() {
    this.#wait = FIRST_WAIT;
    this.#sequence = 0;
    if (this.#away) {
      if (this.outcome.said.words === AWAY) this.outcome.say("");
      this.released();
    }
    this.#flush();
  }

  #flush() {
    if (!this.#isOpen || this.#isHeld) return;
    while (this.#pending.length) {
      const events = this.#pending.splice(0, MOST_EVENTS);
      this.#sequence += 1;
      this.#sent.push({ sequence: this.#sequence, events, at: Date.now() });
      this.#socket?.send(JSON.stringify({ sequence: this.#sequence, events }));
    }
    this.#watch();
  }

  /** Say that it takes long, where the oldest of what is not acknowledged is a second old. */
  #watch() {
    clearTimeout(this.#timer);
    const [oldest] = this.#sent;
    if (!oldest) {
      if (this.outcome.said.words === SENDING) this.outcome.say("");
      if (this.#pending.length) return;
      this.#quiet.abort();
      this.#quiet = new AbortController();
      return;
    }
    const left = oldest.at + SLOW_MILLISECONDS - Date.now();
    if (left > 0) this.#timer = setTimeout(() => this.#watch(), left);
    else this.outcome.say(SENDING, "waits");
  }

  #heard(/** @type {HandMessage} */ message) {
    if (message.type === "acknowledged") {
      this.#sent = this.#sent.filter(({ sequence }) => sequence > message.sequence);
      if (!this.#awaits && !this.#hasLost) this.outcome.say("");
      this.#watch();
    } else if (message.problem === "control-ended") {
      // Nor will anything be that comes behind it, on its way or not.
      const behind = this.#sent.filter(({ sequence }) => sequence >= message.sequence);
      this.#sent = this.#sent.filter(({ sequence }) => sequence < message.sequence);
      this.#lose("Control has ended.", undoneOf([...eventsOf(behind), ...this.#pending.splice(0)]));
    } else {
      this.#lose(sentence(message.detail), message.not_sent);
      this.released();
    }
  }

  async #lost(/** @type {CloseEvent} */ { code, reason }) {
    if (this.#isClosed) return;
    if (FINAL.includes(code)) {
      this.lease.lose();
      return;
    }
    this.outcome.lose("unknown", undoneOf(eventsOf(this.#sent)));
    const unsent = this.#pending.splice(0);
    this.#sent = [];
    this.#watch();
    this.#away = reason ? sentence(reason) : AWAY;
    this.#lose(this.#away);
    this.#miss(unsent);
    await pause(this.#wait, this.lease.signal);
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
    if (!this.#isClosed) this.#connect();
  }

  /** @param {HandEvent[]} events that cannot be sent */
  #miss(events) {
    if (isDone(events)) this.#lose(this.#away, undoneOf(events));
  }

  /** Control is over: what nobody has acknowledged may have come too late. */
  #over() {
    const unknown = undoneOf([...eventsOf(this.#sent), ...this.#pending]);
    if (!this.#isClosed && !this.lease.isGivenBack) this.outcome.lose("unknown", unknown);
    this.close();
  }

  #lose(/** @type {string} */ words, /** @type {Undone | null} */ undone = null) {
    this.#hasLost = true;
    this.outcome.say(words, "bad");
    if (undone) this.outcome.lose("notSent", undone);
  }
}

const eventsOf = (/** @type {Batch[]} */ batches) => batches.flatMap(({ events }) => events);
