/** The oldest contract of a server that these pages work with. */
export const NEEDED_CONTRACT = 3;

/**
 * What to tell people about the contract of the server: `first` is the one that it had when the page was loaded, `now` the one it has.
 * Null where all is well, or where the server does not tell.
 */
export function contractNotice(first: number | null, now: number | null): string | null {
  if (now === null) return null;
  if (now < NEEDED_CONTRACT)
    return `This console needs contract ${NEEDED_CONTRACT} or newer, and the server has ${now}. Some pages will not work: upgrade the server, or open its own console.`;
  if (first !== null && first !== now) return "Binnacle was upgraded. Reload the page to go on with the new version.";
  return null;
}
