/** What the console says: states, outcomes, times and sizes, in words for people. */

/**
 * A machine's states: in words, and how urgently somebody should look after one, the lowest first.
 * @type {Record<string, {word: string, trouble: number}>}
 */
export const STATES = {
  offline: { word: "Offline", trouble: 0 },
  no_input: { word: "No input", trouble: 0 },
  paused: { word: "Paused", trouble: 1 },
  online: { word: "Online", trouble: 2 },
  not_set_up: { word: "Not set up yet", trouble: 3 },
};

/**
 * A machine's state; of one that has never connected that is a state of its own.
 * @param {Machine} machine
 */
export function stateOf({ state, client_version }) {
  return state === "offline" && client_version === null ? "not_set_up" : state;
}

/**
 * Whether a machine's screen should be seen and cannot; what its owner switched off is no trouble.
 * @param {Machine} machine
 */
function isDark({ screen }) {
  return Boolean(screen) && !screen.available && !screen.switched_off;
}

/**
 * How urgently somebody should look after a machine; a state that a newer server invented is trouble.
 * @param {Machine} machine
 */
export function troubleOf(machine) {
  return isDark(machine) && machine.state === "online" ? 0 : (STATES[stateOf(machine)]?.trouble ?? 0);
}

/** @param {Machine} machine */
export function isTrouble(machine) {
  return troubleOf(machine) === 0;
}

/**
 * Why a machine is not as it should be; nothing where it is.
 * @param {Machine} machine
 */
export function whyOf(machine) {
  if (machine.state === "paused" && machine.pause) return pauseOf(machine.pause);
  return machine.state === "online" && !isDark(machine) ? "" : machine.reason;
}

/**
 * By whom, until when and why a machine is paused, behind the word for its state.
 * @param {Pause} pause
 */
function pauseOf({ by, until, reason }) {
  return `by ${by}${until ? ` until ${exactly(until)}` : ""}${reason ? `: ${reason}` : ""}`;
}

/** @type {Record<string, {word: string, kind: "good" | "bad" | "waits"}>} */
export const OUTCOMES = {
  completed: { word: "Completed", kind: "good" },
  failed: { word: "Failed", kind: "bad" },
  refused: { word: "Refused", kind: "bad" },
  stopped: { word: "Stopped", kind: "bad" },
  expired: { word: "Expired", kind: "bad" },
  not_carried_out: { word: "Not carried out", kind: "bad" },
  unknown: { word: "Unknown", kind: "bad" },
  pending: { word: "Pending", kind: "waits" },
};

/** @param {string} name */
export function outcomeOf(name) {
  return OUTCOMES[name] ?? { word: name, kind: "bad" };
}

/** @type {Record<string, string>} */
const OPERATIONS = {
  "mouse.click": "Click",
  "mouse.drag": "Drag",
  "mouse.move": "Move",
  "mouse.scroll": "Scroll",
  "keyboard.key": "Keys",
  "keyboard.type": "Text",
  "clipboard.write": "Clipboard",
  actions: "Actions",
  hand: "Worked by hand",
};

/** @param {string} name */
export function operationOf(name) {
  return OPERATIONS[name] ?? name;
}

/** @type {Record<string, string>} */
const ACTIONS = {
  "machine.added": "Added a machine",
  "machine.renamed": "Renamed a machine",
  "machine.paused": "Paused a machine",
  "machine.resumed": "Resumed a machine",
  "machine.pause_ended": "A pause ended by itself",
  "machine.removed": "Removed a machine",
  "control.taken": "Took control",
  "control.taken_over": "Took over control",
  "control.requested": "Asked for control",
  "control.worked": "Worked by hand",
  "control.ended": "Gave control back",
  "control.lapsed": "Control expired",
  "screen.seen": "Looked at the screen",
  "clipboard.read": "Read the clipboard",
  "token.created": "Made a token",
  "token.revoked": "Revoked a token",
  "organization.added": "Added an organization",
  "session.started": "Signed in",
  "session.ended": "Signed out",
  "workflow.created": "Made a workflow",
  "workflow.changed": "Changed a workflow",
  "workflow.deleted": "Deleted a workflow",
  "picture.kept": "Kept a picture",
  "picture.deleted": "Deleted a picture",
  "trajectory.created": "Made a trajectory",
  "trajectory.changed": "Changed a trajectory",
  "trajectory.approved": "Approved a trajectory",
  "trajectory.approval_withdrawn": "Withdrew an approval",
  "trajectory.extended": "Added steps to a trajectory",
  "trajectory.duplicated": "Copied a trajectory",
  "trajectory.deleted": "Deleted a trajectory",
};

/**
 * What was done, as the audit has it, in words; an input is called as everywhere.
 * @param {string} action
 */
export function actionOf(action) {
  return ACTIONS[action] ?? operationOf(action.replace(/^input\./, ""));
}

/** By how many milliseconds the server's clock is ahead of this browser's. */
let ahead = 0;

/**
 * Learn the server's time from an answer; its Date has whole seconds, so small gaps are none.
 * @param {string | null} date
 */
export function learnTime(date) {
  const difference = Date.parse(date ?? "") - Date.now();
  if (Number.isFinite(difference)) ahead = Math.abs(difference) < 2000 ? 0 : difference;
}

/** The present, by the server's clock. */
function present() {
  return Date.now() + ahead;
}

const LONG_AGO = 60 * 86_400;
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
/** @type {[number, string][]} */
const UNITS = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
];

/**
 * Such as "3 min ago"; within five seconds it is "just now", and after months a date.
 * @param {string} time
 */
export function ago(time) {
  const seconds = Math.floor((present() - Date.parse(time)) / 1000);
  if (Number.isNaN(seconds)) return "";
  if (seconds > LONG_AGO) return DAY.format(new Date(time));
  if (seconds < 5) return "just now";
  for (const [size, unit] of UNITS) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${unit} ago`;
  }
  return `${seconds} s ago`;
}

const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });

/**
 * The moment itself, in the reader's own zone.
 * @param {string} time
 */
export function exactly(time) {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : EXACT.format(date);
}

/**
 * When a day of the reader's own calendar begins or ends by the reader's own clock; what is no day is
 * left for the server to refuse, in words.
 * @type {(day: string, time: string) => string}
 */
export function momentOf(day, time) {
  const moment = new Date(`${day}T${time}`);
  return Number.isNaN(moment.getTime()) ? day : moment.toISOString();
}

/**
 * Such as "0.4 ms", "12 ms", "1.5 s"; a dash where there is none.
 * @param {number | null | undefined} milliseconds
 */
export function span(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return "–";
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
}

/**
 * Such as "1280 × 800", and how many more.
 * @param {Display[]} all
 */
export function displays(all) {
  const [first] = all;
  if (!first) return "–";
  const more = all.length > 1 ? ` + ${all.length - 1}` : "";
  return `${first.width} × ${first.height}${more}`;
}

const NUMBER = new Intl.NumberFormat("en");

/** @type {(amount: number, one: string, many?: string) => string} */
export function count(amount, one, many = `${one}s`) {
  return `${NUMBER.format(amount)} ${amount === 1 ? one : many}`;
}

/** @param {number | null | undefined} value */
export function number(value) {
  return value === null || value === undefined ? "–" : NUMBER.format(value);
}
