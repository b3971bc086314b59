/** Single keys that do something on a page. */

import { useLayoutEffect, useRef } from "./elements.js";
import { isMeantFor } from "./table.js";

/** @param {Record<string, (event: KeyboardEvent) => void>} keys what each does, unless somebody types, scrolls a text or answers a dialog */
export function useKeys(keys) {
  const latest = useRef(keys);
  latest.current = keys;
  // Before it is seen: the first key may come at once.
  useLayoutEffect(() => {
    function keydown(/** @type {KeyboardEvent} */ event) {
      const work = latest.current[event.key];
      if (!work || isMeantFor(event, "input, select, textarea, pre") || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      work(event);
    }
    document.addEventListener("keydown", keydown);
    return () => document.removeEventListener("keydown", keydown);
  }, []);
}
