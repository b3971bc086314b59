/** A table of a list's items: sorted by its heads, walked by keys, and quick with thousands of rows. */

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./elements.js";
import { rememberedPlace, returnToPlace } from "./address.js";

/** What is drawn at once: more than a window shows. */
const FIRST_ROWS = 80;
/** What is added while the browser has nothing else to do. */
const MORE_ROWS = 400;
const TYPED_IN = "input, select, textarea, [role=application]";

/** @template {{id: string}} Item @param {TableProperties<Item>} properties */
export function Table({ name, label, columns, items, row, order, sort, chosen }) {
  const count = useGrowing(items.length, `${chosen}${order}`);
  // The roles are said although they are a table's own: the style sheet makes it a grid, whose rows
  // are laid out alone, and only where they are seen.
  return html`<div class="scroll">
    <table class="table ${name}" role="table" aria-label=${label}>
      <thead role="rowgroup">
        <tr role="row">${columns.map((column) => html`<${Head} column=${column} order=${order} sort=${sort} />`)}</tr>
      </thead>
      <tbody role="rowgroup">
        ${items.slice(0, count).map((item) => html`<${Row} key=${item.id} item=${item} columns=${columns} row=${row} />`)}
      </tbody>
    </table>
  </div>`;
}

/** @param {{column: Column<never>, order: string, sort: (order: string) => void}} properties */
function Head({ column: { key, label, head, numeric, sorts }, order, sort }) {
  const isUp = order === key;
  const isDown = order === `-${key}`;
  const click = () => sort(isUp || (sorts === "down" && !isDown) ? `-${key}` : key);
  return html`<th
    scope="col" role="columnheader" class=${numeric && "number"} data-column=${key}
    aria-sort=${isUp ? "ascending" : isDown ? "descending" : null}
  >${sorts ? html`<button type="button" title=${`Sort by ${label.toLowerCase()}`} onClick=${click}>${label}</button>` : (head ?? label)}</th>`;
}

/** @param {RowProperties} properties of a row, which is drawn anew only where its item is another one */
function Row({ item, columns, row }) {
  const draw = () => html`<tr role="row" ...${row?.(item)}>
    ${columns.map(({ key, label, numeric, cell, attributes }) => html`<td
      role="cell" data-label=${label} data-column=${key} class=${numeric && "number"} ...${attributes?.(item)}
    >${cell(item)}</td>`)}
  </tr>`;
  return useMemo(draw, [item, columns]);
}

/**
 * How many of so many items are drawn: few at first and soon all, so that neither the first nor a
 * change has to wait for thousands; at once as many as one has read before, on the way back.
 * @type {(length: number, chosen: string) => number}
 */
function useGrowing(length, chosen) {
  const isBack = useRef(rememberedPlace() > 0);
  const [drawn, draw] = useState({ chosen, count: FIRST_ROWS });
  const count = isBack.current ? length : drawn.chosen === chosen ? drawn.count : FIRST_ROWS;
  useLayoutEffect(() => {
    if (!isBack.current || !length) return;
    returnToPlace();
    isBack.current = false;
    draw({ chosen, count });
  }, [length]);
  useEffect(() => {
    if (count >= length) return undefined;
    const timer = setTimeout(() => draw({ chosen, count: count + MORE_ROWS }));
    return () => clearTimeout(timer);
  });
  return count;
}

/** On every page with a list: `/` leads to its search, `j` and `k` to the next row's link, or the row, and the one before. */
export function walkByKeys() {
  document.addEventListener("keydown", (event) => {
    if (isMeantFor(event, TYPED_IN)) return;
    if (event.key === "j") walk(1);
    else if (event.key === "k") walk(-1);
    else if (event.key === "/") {
      /** @type {HTMLElement | null} */
      const search = document.querySelector("input[type=search]");
      if (search) event.preventDefault();
      search?.focus();
    }
  });
}

/** @type {(event: KeyboardEvent, elements: string) => boolean} whether the key is for one of these, or for the browser with a modifier */
export const isMeantFor = ({ target, ctrlKey, altKey, metaKey }, elements) =>
  ctrlKey || altKey || metaKey || (target instanceof Element && target.closest(elements) !== null);

function walk(/** @type {number} */ by) {
  const rows = [...document.querySelectorAll(".table tbody tr")];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const row = rows[at < 0 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1)];
  const focused = row?.querySelector(":not(small) > a") ?? row;
  if (focused instanceof HTMLElement) focused.focus();
  row?.scrollIntoView({ block: "nearest" });
}
