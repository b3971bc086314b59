/** What a person does on a machine, as it happens: one websocket, and what became of all of it. */

import { HOME, sentence } from "../server/api.js";
import { pause } from "../parts/waiting.js";
import { isDone, undoneOf } from "./undone.js";

const PROTOCOL = "farhand.hand.v1";
const MOST_EVENTS = 256;
const SLOW_MILLISECONDS = 1000;
const FIRST_WAIT = 200;
const LONGEST_WAIT = 2000;
const AWAY = "The connection was lost.";
/** The server's close codes that end a hand for good. */
const REPLACED = 4500;
const CONTROL_ENDED = 4501;

/**
 * A hand for as long as a lease lives.  `told(sentence, kind)` hears what became of what it did.
 * What cannot be sent now is never sent later: it was meant for another screen.
 */
export class Hand {
  /** @type {WebSocket | null} */
  #socket = null;
  #sequence = 0;
  /** @type {HandEvent[]} */
  #pending = [];
  /**
   * What is not acknowledged yet.
   * @type {{sequence: number, events: HandEvent[], at: number}[]}
   */
  #sent = [];
  #wasOpen = false;
  #isClosed = false;
  #wait = FIRST_WAIT;
  #timer = 0;
  #isSlow = false;
  /** Whether what is done waits for something else. */
  #isHeld = false;
  /** Whether something was lost since all was quiet: that stays said meanwhile. */
  #hasLost = false;
  /** What was said when the connection went. */
  #away = "";
  /** @type {(() => void)[]} */
  #waiting = [];
  /** Called when the server has let go of all that was held, though the person has not. */
  released = () => {};

  /**
   * @param {import("./lease.js").Lease} lease
   * @param {(sentence: string, kind: Kind) => void} told
   * @param {import("./undone.js").Losses} losses
   */
  constructor(lease, told, losses) {
    this.lease = lease;
    this.told = told;
    this.losses = losses;
    lease.signal.addEventListener("abort", () => this.#over());
    this.#connect();
  }

  /** @param {HandEvent[]} events */
  send(...events) {
    if (!events.length || this.#isClosed) return;
    if (!this.#isOpen && this.#wasOpen) {
      this.#miss(events);
      return;
    }
    if (isDone(events) && !this.#awaits) this.#hasLost = false;
    if (!this.#pending.length) queueMicrotask(() => this.#flush());
    this.#pending.push(...events);
  }

  /**
   * Let what is done from now on wait, until what is returned is called: with what is done before
   * it, or with words that say why neither can be.
   * @returns {Resume}
   */
  hold() {
    this.#flush();
    const socket = this.#socket;
    this.#isHeld = true;
    return (events, words) => {
      this.#isHeld = false;
      const meanwhile = this.#pending.splice(0);
      const waiting = [...events, ...meanwhile];
      if (words) {
        this.#lose(words);
        this.losses.notSent(undoneOf(waiting));
        // What went down before has to go up all the same.
        this.send(...meanwhile.filter((event) => "down" in event && !event.down));
      } else if (socket === this.#socket) this.send(...waiting);
      else this.#miss(waiting);
    };
  }

  /** Resolves when all that was done has its end, or nobody will tell any more. */
  settled() {
    return new Promise((/** @type {(value: void) => void} */ resolve) => {
      if (this.#isQuiet) resolve();
      else this.#waiting.push(resolve);
    });
  }

  /** Nothing more will be done. */
  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#socket?.close(1000);
    this.#settle();
  }

  get #isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Whether something is on its way that a person would miss. */
  get #awaits() {
    return isDone(this.#pending) || this.#sent.some(({ events }) => isDone(events));
  }

  get #isQuiet() {
    return this.#isClosed || (!this.#sent.length && !this.#pending.length);
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
    if (this.#isClosed) {
      this.#socket?.close(1000);
      return;
    }
    if (this.#away === AWAY) this.#found();
    this.#away = "";
    const wasOpen = this.#wasOpen;
    this.#wasOpen = true;
    this.#wait = FIRST_WAIT;
    this.#sequence = 0;
    if (wasOpen) this.released();
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
      if (this.#isSlow && !this.#hasLost) this.told("", "good");
      this.#isSlow = false;
      return;
    }
    const left = oldest.at + SLOW_MILLISECONDS - Date.now();
    if (left > 0) {
      this.#timer = setTimeout(() => this.#watch(), left);
    } else if (!this.#isSlow) {
      this.#isSlow = true;
      this.told("Sending…", "waits");
    }
  }

  /** @param {HandMessage} message */
  #heard(message) {
    if (message.type === "acknowledged") {
      this.#sent = this.#sent.filter(({ sequence }) => sequence > message.sequence);
      if (!this.#awaits && !this.#hasLost && !this.#isSlow) this.told("", "good");
      this.#watch();
      if (this.#isQuiet) this.#settle();
    } else {
      this.#refused(message);
    }
  }

  /** @param {Refused} refused */
  #refused({ problem, detail, sequence, not_sent }) {
    const isOver = problem === "control-ended";
    let lost = not_sent;
    if (isOver) {
      // Nor will anything be that comes behind it, on its way or not.
      const behind = this.#sent.filter((batch) => batch.sequence >= sequence);
      this.#sent = this.#sent.filter((batch) => batch.sequence < sequence);
      lost = undoneOf([...behind.flatMap(({ events }) => events), ...this.#pending.splice(0)]);
    }
    this.#lose(isOver ? "Control has ended." : sentence(detail));
    this.losses.notSent(lost);
    if (!isOver) this.released();
  }

  /** @param {CloseEvent} event */
  async #lost({ code, reason }) {
    const unknown = this.#sent.flatMap(({ events }) => events);
    const unsent = this.#pending.splice(0);
    this.#sent = [];
    this.#watch();
    this.#settle();
    if (this.#isClosed) return;
    this.losses.unknown(undoneOf(unknown));
    if (code === CONTROL_ENDED || code === REPLACED) {
      this.#isClosed = true;
      this.lease.lose();
      return;
    }
    this.#away = reason ? sentence(reason) : AWAY;
    this.#lose(this.#away);
    this.#wasOpen = true;
    this.#miss(unsent);
    await pause(this.#wait, this.lease.signal);
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
    if (!this.#isClosed) this.#connect();
  }

  /** @param {HandEvent[]} events */
  #miss(events) {
    if (!isDone(events)) return;
    this.losses.notSent(undoneOf(events));
    this.#lose(this.#away);
  }

  /** Control is over: what nobody has acknowledged may have come too late. */
  #over() {
    const unknown = [...this.#sent.flatMap(({ events }) => events), ...this.#pending];
    if (!this.#isClosed && !this.lease.isGivenBack) this.losses.unknown(undoneOf(unknown));
    this.close();
  }

  /** @param {string} words */
  #lose(words) {
    this.#hasLost = true;
    this.#isSlow = false;
    this.told(words, "bad");
  }

  /** It is back, and nothing was lost. */
  #found() {
    this.#hasLost = false;
    this.told("", "good");
  }

  #settle() {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
