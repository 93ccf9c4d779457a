export interface LeaseOptions {
  readonly leaseMs: number;
  /** When the claim was sent, on the monotonic clock. */
  readonly claimSentAtMs: number;
  /** False when somebody else holds the job. */
  readonly renew: () => Promise<boolean>;
  readonly onRenewalError: (error: unknown) => void;
  /** Called at most once, and not after `stop`. */
  readonly onLost: (reason: string) => void;
}

export interface Lease {
  stop(): void;
}

/**
 * Renews a lease three times within its length, and reports it lost when a renewal says so or when none got through for
 * a whole length: then another worker may hold the job, though this one, cut off from the database, cannot know. The
 * length counts from when a renewal was sent, so that the end is seen here before it comes there.
 */
export function keepLease({ leaseMs, claimSentAtMs, renew, onRenewalError, onLost }: LeaseOptions): Lease {
  let heldSinceMs = claimSentAtMs;
  let deadline: NodeJS.Timeout | undefined;
  let ended = false;

  function stop() {
    ended = true;
    clearTimeout(deadline);
    clearInterval(beat);
  }

  function lose(reason: string) {
    if (ended) return;
    stop();
    onLost(reason);
  }

  function holdFrom(sentAtMs: number) {
    if (ended || sentAtMs < heldSinceMs) return;
    heldSinceMs = sentAtMs;
    clearTimeout(deadline);
    const restMs = sentAtMs + leaseMs - performance.now();
    deadline = setTimeout(lose, restMs, "its lease could not be renewed in time");
  }

  // A beat does not wait for the one before it, which may hang on a dead connection until the lease is over.
  async function renewOnce() {
    const sentAtMs = performance.now();
    try {
      if (await renew()) holdFrom(sentAtMs);
      else lose("another worker took it");
    } catch (error) {
      if (!ended) onRenewalError(error);
    }
  }

  const beat = setInterval(() => void renewOnce(), leaseMs / 3);
  holdFrom(claimSentAtMs);
  return { stop };
}
