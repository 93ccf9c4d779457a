/** The objects of apps as the operators of releases rendered them, in a folder for each version that changed them. */
export const RENDERINGS = "packages/operator/src/app/render/releases";

/** Throws where renderings are kept for a later version: they would be taken for those of this one, and could still be replaced. */
export function requireRenderings(version: string, kept: readonly string[]): void {
  const later = kept.find((one) => one.localeCompare(version, "en", { numeric: true }) > 0);
  if (later === undefined) return;
  throw new Error(`${RENDERINGS}/${later} is that of a later version. Rename it to ${version}, or release ${later}.`);
}
