/** So many connections at most; the others are refused. */
export interface ConnectionBudget {
  /** Whether there was one left; who got it gives it back. */
  take(): boolean;
  giveBack(): void;
}

export function createBudget(most: number): ConnectionBudget {
  let taken = 0;
  return {
    take() {
      if (taken >= most) return false;
      taken += 1;
      return true;
    },
    giveBack() {
      taken -= 1;
    },
  };
}
