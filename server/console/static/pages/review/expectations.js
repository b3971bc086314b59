/** What a step expects of the screen, as a person reads it and fills it in: one condition, of the kinds that can be said in words. */

import { textOf } from "../../parts/pieces.js";
import { membersOf } from "../steps.js";

const USUAL_SECONDS = 10;

/** @type {[string, string][]} */
export const KINDS = [
  ["text", "A text is there"],
  ["text gone", "A text has gone"],
  ["element", "An element is there"],
  ["element gone", "An element has gone"],
  ["changed", "Anything has changed"],
];

/** @typedef {{kind: string, said: string, role: string, seconds: number}} Filled */

const textIn = (/** @type {unknown} */ value) => (typeof value === "string" ? value : "");

/** @type {(step: Step) => Filled} what stands in the form at first: the first condition of a step that it can say */
export function filledIn({ expect }) {
  const { any, timeout } = membersOf(expect);
  const first = membersOf(Array.isArray(any) ? any[0] : null);
  const { role, name } = membersOf(first.element);
  const kind = ["text", "element", "changed"].find((each) => each in first) ?? "text";
  return {
    kind: first.gone === true ? `${kind} gone` : kind,
    said: textIn(first.text ?? name),
    role: textIn(role),
    seconds: typeof timeout === "number" ? timeout : USUAL_SECONDS,
  };
}

/** @type {(step: Step) => Step[]} what was proposed when it was recorded, as far as it can be said in words */
export function proposedOf({ proposed, expect }) {
  const all = Array.isArray(proposed) && !expect ? proposed.map(membersOf) : [];
  return all.filter((each) => wordsFor(each));
}

/** @type {(condition: Step) => string} such as "dialog Saved is there"; empty where nothing says it */
export function wordsFor({ element, text, gone }) {
  const { role, name } = membersOf(element);
  // A name is a glob, in which a character that means itself may have a backslash before it.
  const called = typeof name === "string" ? name.replaceAll(/\\(.)/g, "$1") : name;
  const what = [role, called, text].filter((each) => typeof each === "string").join(" ");
  return what && `${what} ${gone === true ? "has gone" : "is there"}`;
}

/** @type {(condition: Step) => object} the change of a step that expects it */
export const taking = (condition) => ({ expect: { any: [condition], timeout: USUAL_SECONDS }, proposed: null });

/** @type {(values: FormData) => Step} an expectation as the server takes it */
export function expectationOf(values) {
  const [kind, gone] = textOf(values, "kind").split(" ");
  const said = textOf(values, "expect");
  const role = textOf(values, "role");
  const isGone = gone ? { gone: true } : {};
  const element = { ...(said && { name: said }), ...(role && { role }) };
  const condition = kind === "changed" ? { changed: true } : { ...isGone, ...(kind === "text" ? { text: said } : { element }) };
  return { any: [condition], timeout: Number(textOf(values, "timeout")) };
}
