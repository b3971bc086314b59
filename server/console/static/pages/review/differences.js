/** How the steps of two trajectories differ, as far as a run would notice. */

/** What two recordings of the same differ in anyway. */
const INCIDENTAL = ["after_ms", "by", "command_id", "picture", "picture_after", "screenshot", "image"];
const INCIDENTAL_OF_TARGET = ["box", "crop"];
/** Pairs of steps that are compared; beyond that they are taken in their order. */
const MOST_PAIRS = 4_000_000;

/** @typedef {{step: Step, number: number}} Numbered @typedef {{kind: "added" | "removed" | "changed", before: Numbered | null, after: Numbered | null}} Difference */

/** @type {(value: unknown) => unknown} with the members of objects in one order */
function ordered(value) {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([name, member]) => [name, ordered(member)]));
}

/** @type {(value: object, names: string[]) => object} */
const without = (value, names) => Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));

/** @type {(step: Step) => Step} what of it counts */
function counting(step) {
  const { target } = step;
  const kept = typeof target === "object" && target ? without(target, INCIDENTAL_OF_TARGET) : target;
  return /** @type {Step} */ (ordered({ ...without(step, INCIDENTAL), target: kept }));
}

/** @param {Step[]} steps @returns {(Numbered & {text: string})[]} */
const compared = (steps) => steps.map((step, at) => ({ step, number: at + 1, text: JSON.stringify(counting(step)) }));

/** @type {(before: Step[], after: Step[]) => Difference[]} in the order in which one meets them */
export function differences(before, after) {
  const [olds, news] = [compared(before), compared(after)];
  const found = /** @type {Difference[]} */ ([]);
  let [from, into] = [0, 0];
  for (const [old, own] of /** @type {[number, number][]} */ ([...inCommon(olds, news), [before.length, after.length]])) {
    found.push(...paired(olds.slice(from, old), news.slice(into, own)));
    [from, into] = [old + 1, own + 1];
  }
  return found;
}

/** @type {(gone: Numbered[], come: Numbered[]) => Difference[]} of what lies between two steps that are the same: a step that does the same has changed */
function paired(gone, come) {
  const found = /** @type {Difference[]} */ ([]);
  const left = [...gone];
  for (const after of come) {
    const at = left.findIndex(({ step }) => step.operation === after.step.operation && step.action === after.step.action);
    found.push(...left.splice(0, Math.max(at, 0)).map((before) => removed(before)));
    const before = at < 0 ? null : (left.shift() ?? null);
    found.push({ kind: before ? "changed" : "added", before, after });
  }
  return [...found, ...left.map(removed)];
}

const removed = (/** @type {Numbered} */ before) => /** @type {Difference} */ ({ kind: "removed", before, after: null });

/** @type {(olds: {text: string}[], news: {text: string}[]) => [number, number][]} the places of the longest sequence that both have */
function inCommon(olds, news) {
  const same = (/** @type {number} */ old, /** @type {number} */ own) => olds[old]?.text === news[own]?.text;
  const shorter = Math.min(olds.length, news.length);
  let first = 0;
  while (first < shorter && same(first, first)) first += 1;
  let last = 0;
  while (last < shorter - first && same(olds.length - 1 - last, news.length - 1 - last)) last += 1;
  const [rows, columns] = [olds.length - first - last, news.length - first - last];
  const middle = rows * columns > MOST_PAIRS ? [] : longest(rows, columns, (row, column) => same(first + row, first + column));
  return [
    ...Array.from({ length: first }, (_, at) => /** @type {[number, number]} */ ([at, at])),
    ...middle.map(([row, column]) => /** @type {[number, number]} */ ([first + row, first + column])),
    ...Array.from({ length: last }, (_, at) => /** @type {[number, number]} */ ([olds.length - last + at, news.length - last + at])),
  ];
}

/** @type {(rows: number, columns: number, same: (row: number, column: number) => boolean) => [number, number][]} */
function longest(rows, columns, same) {
  const width = columns + 1;
  const lengths = new Uint32Array((rows + 1) * width);
  const at = (/** @type {number} */ row, /** @type {number} */ column) => lengths[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0; row -= 1)
    for (let column = columns - 1; column >= 0; column -= 1)
      lengths[row * width + column] = same(row, column) ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
  const found = /** @type {[number, number][]} */ ([]);
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    if (same(row, column)) found.push([row++, column++]);
    else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return found;
}

/** @type {(difference: Difference) => string[]} what has changed in a step, member by member */
export function changesIn({ before, after }) {
  const [old, own] = [before, after].map((each) => flat(counting(each?.step ?? {})));
  const names = [...new Set([...Object.keys(old ?? {}), ...Object.keys(own ?? {})])].toSorted();
  return names.filter((name) => old?.[name] !== own?.[name]).map((name) => `${name}: ${old?.[name] ?? "–"} → ${own?.[name] ?? "–"}`);
}

/** @type {(value: unknown, name?: string) => Record<string, string>} its texts and numbers, by where they stand */
function flat(value, name = "") {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null) return { [name]: typeof value === "string" ? value : JSON.stringify(value) };
  return Object.fromEntries(Object.entries(value).flatMap(([member, each]) => Object.entries(flat(each, name ? `${name}.${member}` : member))));
}
