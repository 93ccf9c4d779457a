/** The last use of a CLI token is stored once a minute at most. That suffices to find a forgotten token. */
const RECORDED_EVERY_MS = 60_000;

/** A use at `now` is stored where the stored one is not newer than this. */
export const lastUseThreshold = (now: Date) => new Date(now.getTime() - RECORDED_EVERY_MS);

interface Use {
  readonly tokenId: string;
  readonly address: string;
}

type RecordUse = (use: Use, lastUsedAt: Date | null, now: Date) => void;

/** Stores uses without delaying or failing the request. The next use tries again. */
export function cliTokenUseRecorder(write: (use: Use, now: Date) => Promise<unknown>): RecordUse {
  const underWay = new Set<string>();
  return (use, lastUsedAt, now) => {
    const { tokenId } = use;
    const isNoted = lastUsedAt !== null && lastUsedAt > lastUseThreshold(now);
    if (isNoted || underWay.has(tokenId)) return;
    underWay.add(tokenId);
    write(use, now)
      .catch(() => undefined)
      .finally(() => underWay.delete(tokenId));
  };
}
