import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Gives back what the start has left behind. Reading sources and compiling schemas fills three times the memory that
 * the work needs, and V8 keeps it until something presses for it.
 */
export function releaseStartupMemory(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: {
    type: "major";
    execution: "sync";
    flavor: "last-resort";
  }) => void;
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
}
