/** What the console says: states, outcomes, times and sizes, in words for people. */

export const STATES = {
  offline: { word: "Offline", trouble: 0 },
  no_input: { word: "No input", trouble: 1 },
  paused: { word: "Paused", trouble: 2 },
  online: { word: "Online", trouble: 3 },
};

/** A state's words; one that a newer server invented is shown as it is called. */
export function stateOf(name) {
  return STATES[name] ?? { word: String(name), trouble: 1 };
}

/** Whether a machine's screen should be seen and cannot; what its owner switched off is no trouble. */
export function isDark({ screen }) {
  return Boolean(screen) && !screen.available && !screen.switched_off;
}

/** How urgently somebody should look after a machine: the lowest first. */
export function troubleOf(machine) {
  const { trouble } = stateOf(machine.state);
  return machine.state === "online" && isDark(machine) ? trouble - 0.5 : trouble;
}

/** Why a machine is not as it should be; nothing where it is. */
export function whyOf(machine) {
  return machine.state === "online" && !isDark(machine) ? "" : machine.reason;
}

export const OUTCOMES = {
  completed: { word: "Completed", kind: "good" },
  failed: { word: "Failed", kind: "bad" },
  refused: { word: "Refused", kind: "bad" },
  expired: { word: "Expired", kind: "bad" },
  not_carried_out: { word: "Not carried out", kind: "bad" },
  unknown: { word: "Unknown", kind: "bad" },
  pending: { word: "Pending", kind: "waits" },
};

export function outcomeOf(name) {
  return OUTCOMES[name] ?? { word: String(name), kind: "bad" };
}

const OPERATIONS = {
  "mouse.click": "Click",
  "mouse.drag": "Drag",
  "mouse.move": "Move",
  "mouse.scroll": "Scroll",
  "keyboard.key": "Keys",
  "keyboard.type": "Text",
};

export function operationOf(name) {
  return OPERATIONS[name] ?? String(name);
}

/** By how many milliseconds the server's clock is ahead of this browser's. */
let ahead = 0;

/** Learn the server's time from an answer; its Date has whole seconds, so small gaps are none. */
export function learnTime(date) {
  const difference = Date.parse(date) - Date.now();
  if (Number.isFinite(difference)) ahead = Math.abs(difference) < 2000 ? 0 : difference;
}

/** The present, by the server's clock. */
export function present() {
  return Date.now() + ahead;
}

const LONG_AGO = 60 * 86_400;
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const UNITS = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
];

/** Such as "3 min ago"; within five seconds it is "just now", and after months a date. */
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

/** The moment itself, in the reader's own zone. */
export function exactly(time) {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : EXACT.format(date);
}

/** Such as "0.4 ms", "12 ms", "1.5 s"; a dash where there is none. */
export function span(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return "–";
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
}

/** Such as "1280 × 800", and how many more. */
export function displays(all) {
  if (!all?.length) return "–";
  const [first] = all;
  const more = all.length > 1 ? ` + ${all.length - 1}` : "";
  return `${first.width} × ${first.height}${more}`;
}

const NUMBER = new Intl.NumberFormat("en");

export function count(number, one, many = `${one}s`) {
  return `${NUMBER.format(number)} ${number === 1 ? one : many}`;
}

export function number(value) {
  return value === null || value === undefined ? "–" : NUMBER.format(value);
}
