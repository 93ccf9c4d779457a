/**
 * Tracks whether the hub has sent everything. Resources arrive in any order, so an app may come before the addon
 * instance that it uses.
 */
export interface SyncProgress {
  received(key: string): void;
  /** All that is wanted by now is stored. */
  syncEnded(): void;
  /** Everything that was desired when the hub sent this resource is stored too. */
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

/** An addon instance that an app names and that the view does not have. */
export interface UnseenInstance {
  /** The cluster has stored it, and whoever follows such things is a moment behind. */
  readonly isHeld: boolean;
  /** The hub has sent everything that was desired when it sent the app. */
  readonly isSyncComplete: boolean;
  /** The instance was missing before, for the same generation of the app. A new session does not have to check that again. */
  readonly wasMissing: boolean;
  /** The app has used it, or the cluster is deleting it. */
  readonly isDeleted: boolean;
}

/** Whether to wait for it; otherwise the app is invalid. */
export const mayStillCome = ({ isHeld, isSyncComplete, wasMissing, isDeleted }: UnseenInstance): boolean =>
  isHeld || !(isSyncComplete || wasMissing || isDeleted);
