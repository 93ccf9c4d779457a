/** Lets so many work at once; the others wait in line. */
export function createSlots(most: number) {
  let isFree = most;
  const line: (() => void)[] = [];
  return {
    async within<T>(work: () => Promise<T>): Promise<T> {
      if (isFree > 0) isFree -= 1;
      else await new Promise<void>((turn) => line.push(turn));
      try {
        return await work();
      } finally {
        const next = line.shift();
        if (next) next();
        else isFree += 1;
      }
    },
  };
}
