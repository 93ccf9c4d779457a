import { setTimeout as pause } from "node:timers/promises";
import { startCrowd, untilAllLive } from "./hub-crowd.ts";
import { startMeter } from "./hub-meter.ts";
import { withHubStage } from "./hub-stage.ts";
import { createMemoryGroup } from "./memory-group.ts";
import { peakMb } from "./process.ts";
import { printTable } from "./table.ts";

/**
 * Thousands of operators on two hubs as the chart has them: 1 GiB of memory each, hints over PostgreSQL, and a Service before
 * them that gives each connection to one of them. One is killed, and the other has all operators. Ends with 1 where a limit is missed.
 */

const OPERATORS = Number(process.env["BENCH_OPERATORS"] ?? 5_000);
const HUBS = 2;
const MEMORY_MB = 1_024;
const BACK_LIMIT_S = 30;
const SETTLE_MS = Number(process.env["BENCH_SETTLE_MS"] ?? 20_000);
const PROCESSES = 2;

const groups = Array.from({ length: HUBS }, (_, nth) =>
  createMemoryGroup(`binnacle-bench-hub-${process.pid}-${nth}`, MEMORY_MB * 1_024 * 1_024),
);
const limit = groups.every(Boolean) ? `≤ ${MEMORY_MB} MB, enforced` : `≤ ${MEMORY_MB} MB`;

try {
  await withHubStage(
    OPERATORS,
    async ({ hubs, identities, kill }) => {
      let connections = 0;
      let isFirstGone = false;
      const service = await startMeter(() => (isFirstGone ? hubs[1] : hubs[connections++ % HUBS])?.port ?? 0);
      const crowd = startCrowd(PROCESSES);
      try {
        crowd.connect(`ws://127.0.0.1:${service.port}/hub/v1`, identities);
        const connected = await untilAllLive(crowd, OPERATORS);
        await pause(SETTLE_MS);
        const halves = hubs.map((hub) => peakMb(hub));
        const killedAt = performance.now();
        isFirstGone = true;
        await kill();
        // Operators learn of it one after the other; until the first has, all of them still count as connected.
        while ((await crowd.live()) === OPERATORS) await pause(5);
        await untilAllLive(crowd, OPERATORS);
        const backS = (performance.now() - killedAt) / 1_000;
        await pause(SETTLE_MS);
        const all = hubs[1] ? peakMb(hubs[1]) : Number.NaN;
        const kills = groups[1]?.kills() ?? 0;
        const mb = (value: number) => `${value.toFixed(0)} MB`;
        printTable(
          ["figure", "aim", "seen"],
          [
            ["operators on two hubs", "5,000", OPERATORS.toLocaleString("en")],
            ["all connected after", "", connected],
            ["peak memory of each hub", limit, halves.map(mb).join(", ")],
            ["all on one hub after the other was killed", `≤ ${BACK_LIMIT_S} s`, `${backS.toFixed(1)} s`],
            ["peak memory of that one", limit, mb(all)],
            ["ended by the kernel for want of memory", "0", String(kills)],
          ],
        );
        if (backS > BACK_LIMIT_S || kills > 0 || ![...halves, all].every((peak) => peak <= MEMORY_MB))
          process.exitCode = 1;
      } finally {
        await Promise.all([crowd.stop(), service.stop()]);
      }
    },
    { hubs: HUBS, hasRedis: false, within: (nth) => groups[nth]?.within ?? [] },
  );
} finally {
  // A group that a failed run leaves would stay until the machine is started again.
  for (const group of groups) group?.remove();
}
