/** What Chromium, Firefox, Safari and the loader of styles say about a file that does not come. */
const NOT_LOADED = [
  "Failed to fetch dynamically imported module",
  "error loading dynamically imported module",
  "Importing a module script failed",
  "Unable to preload CSS",
];

/** A part of the console did not come: the server is away, or the tab was opened before an upgrade. */
export class NotLoaded extends Error {
  override readonly name = "NotLoaded";
}

export const isNotLoaded = (error: unknown): boolean =>
  error instanceof NotLoaded || (error instanceof Error && NOT_LOADED.some((start) => error.message.startsWith(start)));

/** The router reloads the whole console at the browsers' own error, also while the server is away and nothing would come back. */
export async function withoutReload<T>(loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    throw isNotLoaded(error) ? new NotLoaded("A part of the console could not be loaded.", { cause: error }) : error;
  }
}
