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
