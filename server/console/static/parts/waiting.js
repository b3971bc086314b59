/** @type {(work: () => unknown, milliseconds: number, until: AbortSignal) => void} every so often, while somebody sees the page */
export function repeat(work, milliseconds, until) {
  const timer = setInterval(() => document.hidden || work(), milliseconds);
  until.addEventListener("abort", () => clearInterval(timer));
}

/** @type {(milliseconds: number, signal: AbortSignal) => Promise<void>} over sooner where the signal is aborted */
export function pause(milliseconds, signal) {
  const over = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
  return new Promise((resolve) => {
    if (over.aborted) resolve();
    else over.addEventListener("abort", () => resolve());
  });
}
