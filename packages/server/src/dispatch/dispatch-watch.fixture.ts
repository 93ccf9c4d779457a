import type { DispatchWatch } from "./dispatch-watch.ts";

/** For changes of which nobody else learns. */
export const UNWATCHED: DispatchWatch = {
  ask: () => ({ text: "select where false", values: [] }),
  follow: async () => false,
};
