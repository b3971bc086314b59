/** The end of what was read of a list, which says when it is nearly in sight. */

import { html, useEffect, useRef } from "./elements.js";

/** What comes next is read before one sees the end. */
const AHEAD = "1000px";

/** @param {{seen: () => void}} properties */
export function End({ seen }) {
  const end = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && seen(), { rootMargin: AHEAD });
    if (end.current) observer.observe(end.current);
    return () => observer.disconnect();
  });
  return html`<p class="small" ref=${end}>Loading more…</p>`;
}
