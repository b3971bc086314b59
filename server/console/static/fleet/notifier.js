/** Says in the browser's own way that a machine is in trouble, or that a program asks for help, also while one looks at another page. */

import { Store } from "../parts/elements.js";
import { capital, count, isTrouble, present, STATES, stateOf, whyOf } from "../parts/words.js";
import { get, path, query, sentence } from "../server/api.js";

/** Trouble that is over by then is not told: a network that was away for a moment, a client that was started anew. */
const SETTLED_MILLISECONDS = 5000;
/** What comes within one time: where there are more, they are told of in one. */
const MOST_ALONE = 10;
const MOST_NAMED = 5;
const MOST_READ = 200;
/** Of so many it is asked who is expected to be away, some at a time: the page has other requests to make. */
const MOST_ASKED = 200;
const ASKED_AT_ONCE = 4;
const TAG = "farhand-trouble";

class Notifier extends Store {
  isOn = false;
  /** @type {import("../server/events.js").Events | null} */
  #events = null;
  /** @type {Map<string, Machine>} those in trouble that nobody was told of yet */
  #waiting = new Map();
  /** @type {Map<string, string>} since when those are in trouble that were told of, by their ids */
  #told = new Map();
  #from = 0;
  #timer = 0;

  /** What the browser says to it: "granted", "denied", "default", or nothing where it has no notifications, as on a page without https. */
  get permission() {
    return "Notification" in globalThis && globalThis.isSecureContext ? Notification.permission : "";
  }

  /** Hear what the signed-in person may see, until the signal is aborted. */
  follow(/** @type {import("../server/events.js").Events} */ events, /** @type {AbortSignal} */ signal) {
    this.#events = events;
    this.#from = present();
    events.on("machine", ({ detail }) => this.#hear(detail), signal);
    events.on("machine_removed", ({ detail: { id } }) => this.#forget(id), signal);
    events.on("help_requested", ({ detail }) => this.#help(detail), signal);
    events.on("reset", () => this.isOn && void this.#read(), signal);
    signal.addEventListener("abort", () => {
      clearTimeout(this.#timer);
      this.#timer = 0;
      this.#waiting.clear();
      this.#told.clear();
      this.turn(false);
    });
  }

  /** Ask the person, in the browser's words, and begin with what goes wrong from now on. */
  begin = async () => {
    if (this.permission === "default") await Notification.requestPermission();
    this.turn(this.permission === "granted");
    this.#from = present();
  };

  turn(/** @type {boolean} */ isOn) {
    this.isOn = isOn;
    // Who is told while looking elsewhere hears while looking elsewhere.
    this.#events?.stayAwake(isOn);
    this.tellNow();
  }

  #hear(/** @type {Machine} */ machine) {
    const { id, since } = machine;
    if (!isTrouble(machine)) this.#forget(id);
    else if (this.isOn && Date.parse(since) >= this.#from - 1000 && this.#told.get(id) !== since) {
      this.#waiting.set(id, machine);
      this.#timer ||= setTimeout(() => void this.#tell(), SETTLED_MILLISECONDS);
    }
  }

  /** Of one machine the latest alone: a program may ask again and again. */
  #help(/** @type {HelpRequest} */ { machine_id, kind, reason, by }) {
    const what = kind === "help" ? "help" : "an approval";
    this.#show(`${machine_id}: ${by} asks for ${what}`, reason, "#/help", `${TAG}-help-${machine_id}`);
  }

  #forget(/** @type {string} */ id) {
    this.#waiting.delete(id);
    this.#told.delete(id);
  }

  /** What happened while nothing was heard. */
  async #read() {
    const found = get(query("v1/machines", { state: "in_trouble", sort: "state", limit: MOST_READ }));
    const { items } = /** @type {MachinePart} */ (await found.catch(() => ({ items: [] })));
    for (const machine of items) this.#hear(machine);
  }

  async #tell() {
    this.#timer = 0;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { id, since } of waiting) this.#told.set(id, since);
    // Some may be fine again by the time that all were asked of.
    const machines = (await unexpected(waiting)).filter(({ id, since }) => this.#told.get(id) === since);
    if (machines.length > MOST_ALONE) this.#digest(machines);
    else for (const machine of machines) this.#one(machine);
  }

  #one(/** @type {Machine} */ machine) {
    const title = `${machine.name}: ${STATES[stateOf(machine)]?.word ?? machine.state}`;
    this.#show(title, sentence(whyOf(machine)), path`#/machines/${machine.id}`, `${TAG}-${machine.id}`);
  }

  #digest(/** @type {Machine[]} */ machines) {
    const names = machines.slice(0, MOST_NAMED).map(({ name }) => name);
    const rest = machines.length - names.length;
    this.#show(`${count(machines.length, "machine")} in trouble`, `${names.join(", ")} and ${rest} more`, "#/machines?state=in_trouble", TAG);
  }

  #show(/** @type {string} */ title, /** @type {string} */ body, /** @type {string} */ address, /** @type {string} */ tag) {
    if (!this.isOn) return;
    try {
      const notification = new Notification(title, { body: capital(body), tag });
      notification.addEventListener("click", () => {
        globalThis.focus();
        location.hash = address;
        notification.close();
      });
    } catch {
      // A phone's browser shows none to a page without a worker of its own.
      this.turn(false);
    }
  }
}

/** @param {Machine} machine whether somebody said that it will be away @returns {Promise<boolean>} */
const isExpected = async ({ id, state }) => {
  if (state !== "offline") return false;
  try {
    await get(path`v1/machines/${id}/expected-offline`);
    return true;
  } catch {
    return false;
  }
};

/** @param {Machine[]} machines those of them that nobody said will be away */
const unexpected = async (machines) => {
  const found = [];
  for (let first = 0; first < Math.min(machines.length, MOST_ASKED); first += ASKED_AT_ONCE) {
    const some = machines.slice(first, Math.min(first + ASKED_AT_ONCE, MOST_ASKED));
    const expected = await Promise.all(some.map(isExpected));
    found.push(...some.filter((_, index) => !expected[index]));
  }
  return [...found, ...machines.slice(MOST_ASKED)];
};

export const notifier = new Notifier();
