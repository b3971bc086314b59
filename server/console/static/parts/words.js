/** What the console says: states, outcomes, times and sizes, in words for people. */

export const capital = (/** @type {string} */ text) => text.charAt(0).toUpperCase() + text.slice(1);

/** @type {Record<string, {word: string, trouble: number}>} of machines, and how urgently somebody should look after one, the lowest first */
export const STATES = {
  offline: { word: "Offline", trouble: 0 },
  no_input: { word: "No input", trouble: 0 },
  paused: { word: "Paused", trouble: 1 },
  online: { word: "Online", trouble: 2 },
  not_set_up: { word: "Not set up yet", trouble: 3 },
};

/** @param {Machine} machine its state; of one that has never connected that is a state of its own */
export const stateOf = ({ state, client_version }) => state === "offline" && client_version === null ? "not_set_up" : state;

/** @param {Machine} machine whether its screen should be seen and cannot; what its owner switched off is no trouble */
const isDark = ({ screen }) => Boolean(screen) && !screen.available && !screen.switched_off;

/** @param {Machine} machine how urgently somebody should look after it; a state that is not known is trouble */
export const troubleOf = (machine) =>
  isDark(machine) && machine.state === "online" ? 0 : (STATES[stateOf(machine)]?.trouble ?? 0);

export const isTrouble = (/** @type {Machine} */ machine) => troubleOf(machine) === 0;

/** @param {Machine} machine why it is not as it should be; nothing where it is */
export function whyOf(machine) {
  if (machine.state === "paused" && machine.pause) return pauseOf(machine.pause);
  return machine.state === "online" && !isDark(machine) ? "" : machine.reason;
}

/** @param {Pause} pause by whom, until when and why, behind the word for the machine's state */
const pauseOf = ({ by, until, reason }) =>
  `by ${by}${until ? ` until ${exactly(until)}` : ""}${reason ? `: ${reason}` : ""}`;

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

export const outcomeOf = (/** @type {string} */ name) => OUTCOMES[name] ?? { word: name, kind: "bad" };

/** @type {Record<string, string>} */
const OPERATIONS = {
  "mouse.click": "Click",
  "mouse.drag": "Drag",
  "mouse.move": "Move",
  "mouse.scroll": "Scroll",
  "keyboard.key": "Keys",
  "keyboard.type": "Text",
  "clipboard.write": "Clipboard",
  "element.invoke": "Invoke",
  "element.set_value": "Value",
  "element.focus": "Focus",
  actions: "Actions",
  hand: "Worked by hand",
};

export const operationOf = (/** @type {string} */ name) => OPERATIONS[name] ?? name;

/** @type {Record<string, string>} what is not called by its verb and its noun alone */
const ACTIONS = {
  "machine.joined": "Joined with a code",
  "invitation.created": "Invited machines",
  "invitation.revoked": "Revoked an invitation",
  "join.approved": "Let a host in",
  "join.refused": "Refused a host",
  "token.rotated": "Changed a machine's token",
  "machine.pause_ended": "A pause ended by itself",
  "machine.offline_expected": "Said that a machine will be away",
  "machine.offline_not_expected": "Took back that a machine will be away",
  "webhook.rotated": "Changed a webhook's secret",
  "webhook.resent": "Sent a delivery again",
  "control.taken": "Took control",
  "control.taken_over": "Took over control",
  "control.made_private": "Made control private",
  "control.made_open": "Let others see the machine again",
  "control.requested": "Asked for control",
  "control.worked": "Worked by hand",
  "control.ended": "Gave control back",
  "control.lapsed": "Control expired",
  "recording.secret_on": "Turned Secret on for a recording",
  "recording.secret_off": "Turned Secret off for a recording",
  "screen.seen": "Looked at the screen",
  "clipboard.read": "Read the clipboard",
  "elements.read": "Looked at the elements",
  "help.requested": "Asked for help",
  "help.answered": "Answered a call for help",
  "help.withdrawn": "Withdrew a call for help",
  "help.timed_out": "Nobody answered a call for help",
  "organization.added": "Added an organization",
  "session.started": "Signed in",
  "session.ended": "Ended a session",
  "trajectory.approval_withdrawn": "Withdrew an approval",
  "trajectory.marked_approved": "Marked a trajectory as approved",
  "trajectory.marked_unapproved": "Took the mark of approval away",
  "trajectory.extended": "Added steps to a trajectory",
};

/** @type {Record<string, string>} */
const VERBS = { created: "Made", duplicated: "Copied" };

/** @param {string} action of the audit, in words; an input is called as everywhere */
export function actionOf(action) {
  const [noun = "", verb = ""] = action.split(".");
  if (noun === "input") return operationOf(action.slice("input.".length));
  return ACTIONS[action] ?? `${VERBS[verb] ?? capital(verb)} a ${noun}`;
}

/** By how many milliseconds the server's clock is ahead of this browser's. */
let ahead = 0;

/** @param {string | null} date of an answer: the server's time, in whole seconds, so that small gaps are none */
export function learnTime(date) {
  const difference = Date.parse(date ?? "") - Date.now();
  if (Number.isFinite(difference)) ahead = Math.abs(difference) < 2000 ? 0 : difference;
}

/** The present, by the server's clock. */
export const present = () => Date.now() + ahead;

/** @param {number} seconds from now, by the server's clock, as it takes moments */
export const momentIn = (seconds) => new Date(present() + seconds * 1000).toISOString();

const LONG_AGO = 60 * 86_400;
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const UNITS = Object.entries({ d: 86_400, h: 3600, min: 60, s: 1 });

/** @param {string} time such as "3 min ago" or "in 3 min"; within five seconds it is "just now", and months away a date */
export function ago(time) {
  const seconds = Math.floor((present() - Date.parse(time)) / 1000);
  const far = Math.abs(seconds);
  if (Number.isNaN(seconds)) return "";
  if (far > LONG_AGO) return DAY.format(new Date(time));
  if (far < 5) return "just now";
  const [unit, size] = UNITS.find(([, least]) => far >= least) ?? ["s", 1];
  const amount = `${Math.floor(far / size)} ${unit}`;
  return seconds < 0 ? `in ${amount}` : `${amount} ago`;
}

/** @param {number} seconds such as "40 s", "12 min", "3 h 20 min", "2 d 4 h" */
export function lasting(seconds) {
  const at = Math.max(UNITS.findIndex(([, least]) => seconds >= least), 0);
  const [unit, size] = UNITS[seconds < 1 ? UNITS.length - 1 : at] ?? ["s", 1];
  const [smaller, part] = UNITS[at + 1] ?? ["s", 1];
  const rest = Math.floor((seconds % size) / part);
  return `${Math.floor(seconds / size)} ${unit}${size >= 3600 && rest ? ` ${rest} ${smaller}` : ""}`;
}

const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });

/** @param {string} time the moment itself, in the reader's own zone */
export function exactly(time) {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : EXACT.format(date);
}

/** @param {number | null | undefined} milliseconds such as "0.4 ms", "12 ms", "1.5 s"; a dash where there is none */
export function span(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return "–";
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
}

/** @param {Display[]} all such as "1280 × 800", and how many more */
export function displays(all) {
  const [first] = all;
  if (!first) return "–";
  const more = all.length > 1 ? ` + ${all.length - 1}` : "";
  return `${first.width} × ${first.height}${more}`;
}

const NUMBER = new Intl.NumberFormat("en");

export const count = (/** @type {number} */ amount, /** @type {string} */ one, many = `${one}s`) =>
  `${NUMBER.format(amount)} ${amount === 1 ? one : many}`;

/** @param {number | null | undefined} value */
export const number = (value) => (value === null || value === undefined ? "–" : NUMBER.format(value));
