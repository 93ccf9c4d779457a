import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The benchmarks of `npm run bench`, one after the other. One that misses an aim does not keep the others from running. */
const missed = ["reads.ts", "apps.ts", "events.ts"].filter((file) => {
  const path = fileURLToPath(new URL(file, import.meta.url));
  return spawnSync(process.execPath, [path, ...process.argv.slice(2)], { stdio: "inherit" }).status !== 0;
});
if (missed.length > 0) {
  process.stderr.write(`An aim was missed by: ${missed.join(", ")}\n`);
  process.exitCode = 1;
}
