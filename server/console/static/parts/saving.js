/** What the server answered, as a file of the person's own. */

const SAVED_MILLISECONDS = 60_000;

/** @type {(response: Response, name: string) => Promise<void>} save it: it is read first, so that an error is said here and not in the file */
export async function save(response, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), SAVED_MILLISECONDS);
}
