/** What the page about the API does where scripts run; it can be read as well where none do. */

const finder = /** @type {HTMLInputElement} */ (document.getElementById("find"));
/** @type {NodeListOf<HTMLElement>} */
const groups = document.querySelectorAll(".group");

/** Leaves those operations that have every word, wherever in their line. */
const filter = () => {
  const words = finder.value.toLowerCase().split(/\s+/);
  for (const group of groups) {
    const operations = [...group.querySelectorAll("details")];
    for (const each of operations) {
      const text = (each.querySelector("summary")?.textContent ?? "").toLowerCase();
      each.hidden = !words.every((word) => text.includes(word));
    }
    group.hidden = operations.every((each) => each.hidden);
  }
};

/** Opens the operation that the address names. */
const openNamed = () => {
  const named = document.getElementById(location.hash.slice(1));
  if (!(named instanceof HTMLDetailsElement)) return;
  named.open = true;
  named.scrollIntoView();
};

const server = new URL(".", location.href).href.replace(/\/$/, "");
for (const each of document.querySelectorAll(".server")) each.textContent = server;
finder.hidden = false;
finder.addEventListener("input", filter);
openNamed();
addEventListener("hashchange", openNamed);
