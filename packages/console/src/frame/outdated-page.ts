/** What Chromium, Firefox, Safari and the loader of styles say about a file that is not there. */
const NOT_LOADED = [
  "Failed to fetch dynamically imported module",
  "error loading dynamically imported module",
  "Importing a module script failed",
  "Unable to preload CSS",
];

/** Whether a part of the console could not be loaded, as in a tab that was opened before an upgrade. */
export const isOutdatedPage = (error: unknown): boolean =>
  error instanceof Error && NOT_LOADED.some((start) => error.message.startsWith(start));
