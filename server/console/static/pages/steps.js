/**
 * What a recorded step says: Farhand's own format, a flat `action`, and what models' vendors have.
 * docs/reference/trajectories.md has the first; the others are read as their makers write them.
 */

import { isPictureId } from "../parts/picture.js";
import { capital, operationOf, span } from "../parts/words.js";

/** The names of actions beside Farhand's operations, by their word; some are their word already, such as "go_back". */
const NAMES = {
  Click: ["click", "left_click", "click_at"],
  "Click right": ["right_click"],
  "Click middle": ["middle_click"],
  Press: ["left_mouse_down", "mouse_down"],
  Release: ["left_mouse_up", "mouse_up"],
  Move: ["move", "mouse_move", "hover_at"],
  Drag: ["drag", "left_click_drag", "drag_and_drop"],
  Scroll: ["scroll", "scroll_at", "scroll_document"],
  Keys: ["key", "keypress", "press_key", "hotkey", "key_combination"],
  Hold: ["hold_key", "key_down"],
  "Let go of": ["key_up"],
  Text: ["type", "type_text_at"],
  Wait: ["wait", "wait_5_seconds"],
  "Wait for": ["wait_for"],
  "Something may be missing here:": ["gap"],
  Screenshot: ["screenshot", "take_screenshot"],
  "Ask for the pointer": ["cursor_position"],
  "Go to": ["navigate"],
};
const PLAIN = ["double_click", "triple_click", "zoom", "go_back", "go_forward"];
const ACTIONS = new Map([
  ...Object.entries(NAMES).flatMap(([word, names]) => names.map((name) => /** @type {const} */ ([name, word]))),
  ...PLAIN.map((name) => /** @type {const} */ ([name, capital(name.replace("_", " "))])),
]);

const CLICKS = ["", "", "Double click", "Triple click"];
/** Gemini counts each side of a picture in so many parts. */
const GRID = 1000;
const MOST_PASSED = 10_000;

const PICTURE_FIELDS = ["picture", "screenshot", "image"];

/** @param {Step} step its picture: the id of one that is kept, or a text in base64; empty where it has none */
export function pictureOf(step) {
  for (const name of PICTURE_FIELDS) {
    const text = typeof step[name] === "string" ? step[name] : membersOf(step[name]).data;
    if (typeof text === "string" && text) return text;
  }
  return "";
}

/** @param {Step} step the picture of the screen once it was done, likewise */
export const pictureAfter = ({ picture_after }) => pictureOf({ picture: picture_after });

/** @type {(step: Step) => (Place & Size) | null} where the element is that it was done to, as far as that is known */
export function boxOf(step) {
  const { x, y, width, height } = membersOf(membersOf(step.target).box);
  return isOwn(step) && [x, y, width, height].every(isNumber) ? /** @type {Place & Size} */ ({ x, y, width, height }) : null;
}

/** @param {Step} step as it was recorded, but for the text of a picture */
export function recorded(step) {
  /** @type {(name: string, value: unknown) => unknown} */
  const short = (name, value) => {
    const text = PICTURE_FIELDS.includes(name) ? pictureOf({ [name]: value }) : "";
    return text && !isPictureId(text) ? "(shown above)" : value;
  };
  return JSON.stringify(step, short, 2);
}

/** @type {(step: Step, size: Size) => {places: Place[], text: string}} what it says, and where on a picture of that size */
export function readStep(step, size) {
  // What a model calls for is told whole: the call, and in it the action.
  const called = [step.action, step.input].map(membersOf).find((value) => nameOf(value));
  const told = called ?? step;
  const values = called ?? membersOf(step.body ?? step.args ?? step.input ?? step);
  const isGrid = typeof step.args === "object";
  const places = placesIn(values).map((place) => (isGrid ? onPicture(place, size) : place));
  const said = sentence(nameOf(told), secretIn(step, values), places, step.after_ms);
  return { places, text: isOwn(step) && typeof step.name === "string" ? `${step.name}: ${said}` : said };
}

/** @param {Step} step whether it has Farhand's format, in which a name is what people call it */
export const isOwn = ({ operation, body }) => typeof operation === "string" && typeof body === "object";

/** @type {(step: Step, values: Step) => Step} with a word for the text that is a secret */
const secretIn = (step, values) => (isOwn(step) && typeof step.secret === "string" ? { ...values, text: `(the secret ${step.secret})` } : values);

/** @param {Step} step what it calls its action; empty where that is not known */
function nameOf({ operation, action, name, type }) {
  if (typeof operation === "string") return operation;
  return [action, name, type].find((each) => typeof each === "string" && ACTIONS.has(each)) ?? "";
}

/** @type {(value: unknown) => Step} what it has in it, where it is an object: anything can be in a step */
export const membersOf = (value) => (typeof value === "object" ? { ...value } : {});

/** @type {(values: Step) => Place[]} where it happened: no place, one, or all of a way from its beginning to its end */
function placesIn(values) {
  const { start_x, start_y, to_x, to_y, x, y, destination_x, destination_y, start_coordinate, coordinate, path } = values;
  const passed = Array.isArray(path) ? path.slice(0, MOST_PASSED).map(membersOf) : [];
  const between = [start_coordinate, ...passed.map((place) => [place.x, place.y]), [to_x, to_y], [x, y], coordinate];
  return [[start_x, start_y], ...between, [destination_x, destination_y]].flatMap((pair) => {
    const [left, top] = Array.isArray(pair) ? /** @type {unknown[]} */ (pair) : [];
    return isNumber(left) && isNumber(top) ? [{ x: left, y: top }] : [];
  });
}

/** @type {(place: Place, size: Size) => Place} */
const onPicture = ({ x, y }, { width, height }) => ({ x: Math.round((x * width) / GRID), y: Math.round((y * height) / GRID) });

/** @type {(name: unknown, values: Step, places: Place[], after: unknown) => string} */
function sentence(name, values, [first, ...others], after) {
  const last = others.at(-1);
  const word = typeof name === "string" && name && (ACTIONS.get(name) ?? operationOf(name));
  const parts = [CLICKS[Number(values.clicks)] || word || "Step", ...detailsOf(values)];
  if (first) parts.push(`${last ? "from" : "at"} ${first.x}, ${first.y}`);
  if (last) parts.push(`to ${last.x}, ${last.y}`);
  // A button that was held in one place.
  if (last?.x === first?.x && last?.y === first?.y && isNumber(values.duration)) parts.push(`for ${values.duration} s`);
  if (isNumber(after)) parts.push(`(after ${span(after)})`);
  return parts.join(" ");
}

function detailsOf(/** @type {Step} */ values) {
  const { modifiers, button, text, keys, key, url, seconds, hold, repeat, reason } = values;
  const details = [
    Array.isArray(modifiers) && modifiers.join("+"),
    button !== "left" && button,
    text,
    Array.isArray(keys) ? keys.join("+") : keys,
    key,
    url,
    isNumber(seconds) && `${seconds} s`,
    isNumber(hold) && `for ${hold} s`,
    isNumber(repeat) && `${repeat} times`,
    reason,
    ...turned(values),
  ];
  return details.filter((detail) => typeof detail === "string" && detail);
}

/** @param {Step} values */
function turned({ direction, scroll_direction, amount, scroll_amount, scroll_x, scroll_y }) {
  const where = direction ?? scroll_direction;
  const notches = amount ?? scroll_amount;
  if (typeof where === "string") return [`${isNumber(notches) ? `${notches} ` : ""}${where}`];
  return [
    isNumber(scroll_y) && scroll_y !== 0 && `${Math.abs(scroll_y)} pixels ${scroll_y > 0 ? "down" : "up"}`,
    isNumber(scroll_x) && scroll_x !== 0 && `${Math.abs(scroll_x)} pixels ${scroll_x > 0 ? "right" : "left"}`,
  ];
}

/** @type {(value: unknown) => value is number} */
function isNumber(value) {
  return Number.isFinite(value);
}
