/** The part of the address behind the #: a page of the console, and what was chosen on it. */

/** The page's path, empty where none is named, and what follows its question mark. */
export function place() {
  const [path = "", query] = location.hash.replace(/^#/, "").split("?");
  return { path, query: new URLSearchParams(query) };
}

/**
 * Let the address tell what is chosen on the page with this path; empty values are left out.
 * Whoever has just gone elsewhere stays there: the page learns of it a moment later.
 * @param {string} path
 * @param {Record<string, string>} values
 */
export function keepChosen(path, values) {
  if (place().path !== path) return;
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value));
  history.replaceState(null, "", query.size ? `#${path}?${query}` : `#${path}`);
}
