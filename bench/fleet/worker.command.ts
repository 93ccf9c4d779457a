import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { LinkLog } from "../../packages/operator/src/link/ports.ts";
import type { ObjectDraft } from "../../packages/sandbox/src/store/kube-object.ts";
import { type RunningCluster, startCluster } from "./cluster.adapter.ts";
import { heldApps } from "./figures.ts";
import type { Answer, Ask, Launch } from "./messages.ts";

/** Many clusters in one process. Questions come and answers go over the channel to the process that has started this one. */

const DEFINITIONS = fileURLToPath(new URL("../../deploy/charts/binnacle-operator/files/crds", import.meta.url));

/** A few starts at once keep a processor busy; more of them would only wait for each other. */
const STARTED_AT_ONCE = 4;

const clusters: RunningCluster[] = [];
const failures: string[] = [];
const warnings: Record<string, number> = {};
let isStopping = false;

const counted = (_: object, message: string) => {
  warnings[message] = (warnings[message] ?? 0) + 1;
};
const log: LinkLog = { debug: () => undefined, info: () => undefined, warn: counted, error: counted };

process.on("message", (ask: Ask) => void answer(ask));
// The parent process has exited.
process.on("disconnect", () => process.exit(0));
// Ctrl-C is for the process that has started this one; it says when to end.
process.on("SIGINT", () => undefined);

async function answer(ask: Ask): Promise<void> {
  if (ask === "state") say({ state: stateNow() });
  else if (ask === "held") say({ held: clusters.flatMap(({ id, sandbox }) => heldApps(id, sandbox.store)) });
  else if (ask === "stop") {
    isStopping = true;
    await Promise.all(clusters.map((cluster) => cluster.stop()));
    say("stopped");
  } else await launch(ask.launch);
}

const say = (given: Answer) => process.send?.(given);

function stateNow() {
  const { user, system } = process.cpuUsage();
  return {
    started: clusters.length,
    failures,
    residentBytes: process.memoryUsage.rss(),
    cpuSeconds: (user + system) / 1_000_000,
    warnings,
  };
}

async function launch({ hubUrl, clusters: wanted }: Launch): Promise<void> {
  const files = await readdir(DEFINITIONS);
  const texts = await Promise.all(files.map((file) => readFile(join(DEFINITIONS, file), "utf8")));
  const definitions = texts.map((text) => parse(text) as ObjectDraft);
  const line = wanted.values();
  const startNext = async (): Promise<void> => {
    for (const cluster of line) {
      if (isStopping) return;
      try {
        clusters.push(await startCluster(cluster, { hubUrl, definitions, log }));
      } catch (error) {
        failures.push(`${cluster.id}: ${(error as Error).message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: STARTED_AT_ONCE }, startNext));
}
