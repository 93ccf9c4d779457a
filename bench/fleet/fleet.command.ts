import { signIn } from "./api.adapter.ts";
import { type FleetOptions, parseFleetArguments, USAGE } from "./arguments.ts";
import { existingControlPlane, startControlPlane } from "./control-plane.adapter.ts";
import { startCrew } from "./crew.adapter.ts";
import { figureTable } from "./figures.ts";
import { createFleetOrg, type FleetApi, fleetApi } from "./fleet-api.adapter.ts";
import { followReadyTimes } from "./ready-times.adapter.ts";
import { type Outcome, rehearse } from "./rehearsal.adapter.ts";

/** A rehearsal with a fleet of simulated clusters, each with the real operator. Ends with 1 when anything was lost. */

const MOST_DIFFERENCES_SHOWN = 20;
const startedAt = performance.now();

const parsed = parseFleetArguments(process.argv.slice(2), process.env);
if ("help" in parsed) process.stdout.write(USAGE);
else if ("problem" in parsed) {
  process.stderr.write(`${parsed.problem}\n\n${USAGE}`);
  process.exitCode = 2;
} else await run(parsed.options);
process.exit();

async function run(options: FleetOptions): Promise<void> {
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => stopping.abort(new Error(`Broken off by ${signal}.`)));
  }
  try {
    const { figures, differences } = await withControlPlane(options, stopping.signal);
    const sentences = differences.slice(0, MOST_DIFFERENCES_SHOWN).map((difference) => `  ${difference}\n`);
    process.stdout.write(`\n${figureTable(figures)}${sentences.join("")}`);
    if (differences.length > 0) process.exitCode = 1;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}

async function withControlPlane(options: FleetOptions, signal: AbortSignal): Promise<Outcome> {
  print("simulated clusters: nothing in them really runs");
  const controlPlane = options.url === null ? await startControlPlane() : existingControlPlane(options.url);
  const credentials = { username: options.username, password: options.password };
  const signedIn = (ending: AbortSignal | null) => signIn(controlPlane.url, credentials, ending);
  try {
    const api = await signedIn(signal);
    const org = await createFleetOrg(api);
    const readyTimes = await followReadyTimes(api);
    const crew = startCrew(options.processes);
    try {
      return await rehearse(options, { controlPlane, crew, fleet: fleetApi(api, org), readyTimes, print });
    } finally {
      readyTimes.stop();
      // A control plane of our own goes as a whole.
      if (options.url !== null) await leave(fleetApi(await signedIn(null), org), org.name, options.isKept);
      await crew.stop();
    }
  } finally {
    const kept = await controlPlane.stop(options.isKept);
    if (kept) print(kept);
  }
}

async function leave(fleet: FleetApi, name: string, isKept: boolean): Promise<void> {
  if (isKept) {
    print(`The organization "${name}" is kept. To remove it, delete its projects, then its clusters, then itself.`);
    return;
  }
  print("removing what was made");
  await fleet.remove().catch((error: Error) => {
    process.exitCode = 1;
    print(`The organization "${name}" was not removed: ${error.message}`);
  });
}

function print(line: string): void {
  process.stdout.write(`${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s  ${line}\n`);
}
