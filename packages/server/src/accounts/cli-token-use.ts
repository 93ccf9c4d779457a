/** How exactly the last use of a CLI token is known: well enough to find a forgotten one. */
const NOTED_EVERY_MS = 60_000;

/** The last use on record up to which a use at `now` is worth noting. */
export const worthNotingSince = (now: Date) => new Date(now.getTime() - NOTED_EVERY_MS);

export type NoteUse = (tokenId: string, lastUsedAt: Date | null, now: Date) => void;

/** Notes uses beside the requests that make them: no request waits for it or fails by it, and the next use tries again. */
export function cliTokenUses(write: (tokenId: string, now: Date) => Promise<unknown>): NoteUse {
  const underWay = new Set<string>();
  return (tokenId, lastUsedAt, now) => {
    const isNoted = lastUsedAt !== null && lastUsedAt > worthNotingSince(now);
    if (isNoted || underWay.has(tokenId)) return;
    underWay.add(tokenId);
    write(tokenId, now)
      .catch(() => undefined)
      .finally(() => underWay.delete(tokenId));
  };
}
