/** How far the hub is with telling what the cluster is to hold: resources come in any order. */
export interface SyncProgress {
  received(key: string): void;
  /** All that is wanted by now is stored. */
  syncEnded(): void;
  /** All that was wanted when the hub told of the resource is stored too. */
  isCompleteSince(key: string): boolean;
}

export function createSyncProgress(): SyncProgress {
  const received = new Set<string>();
  let hasEnded = false;
  return {
    received(key) {
      received.add(key);
    },
    syncEnded() {
      hasEnded = true;
      received.clear();
    },
    isCompleteSince: (key) => hasEnded && !received.has(key),
  };
}

/** What is known of an addon instance that an app names and nobody sees. */
export interface UnseenInstance {
  /** The cluster has stored it, and whoever follows such things is a moment behind. */
  readonly isHeld: boolean;
  /** The hub has told all that was wanted when it told of the app. */
  readonly isSyncComplete: boolean;
  /** It was found missing before, with the app as it is now: a new session does not make that doubtful again. */
  readonly wasMissing: boolean;
}

/** Whether to wait for it; otherwise the app is invalid. */
export const mayStillCome = ({ isHeld, isSyncComplete, wasMissing }: UnseenInstance): boolean =>
  isHeld || !(isSyncComplete || wasMissing);
