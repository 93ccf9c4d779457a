/** How far the hub is with telling what the cluster is to hold: resources come in any order. */
export interface Telling {
  heard(key: string): void;
  /** All that is wanted by now is stored. */
  ended(): void;
  /** All that was wanted when the hub told of the resource is stored too. */
  isAllToldSince(key: string): boolean;
}

export function createTelling(): Telling {
  const heard = new Set<string>();
  let hasEnded = false;
  return {
    heard(key) {
      heard.add(key);
    },
    ended() {
      hasEnded = true;
      heard.clear();
    },
    isAllToldSince: (key) => hasEnded && !heard.has(key),
  };
}

/** What is known of an addon instance that an app names and nobody sees. */
export interface UnseenInstance {
  /** The cluster has stored it, and whoever follows such things is a moment behind. */
  readonly isHeld: boolean;
  /** The hub has told all that was wanted when it told of the app. */
  readonly isAllTold: boolean;
  /** It was found missing before, with the app as it is now: a new session does not make that doubtful again. */
  readonly wasMissing: boolean;
}

/** Whether to wait for it; otherwise the app is invalid. */
export const mayStillCome = ({ isHeld, isAllTold, wasMissing }: UnseenInstance): boolean =>
  isHeld || !(isAllTold || wasMissing);
