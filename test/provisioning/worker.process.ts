import { createMemoryBus } from "../../packages/server/src/bus/bus.adapter.ts";
import { connect } from "../../packages/server/src/database/connection.adapter.ts";
import { startWorker } from "../../packages/server/src/jobs/worker.runner.ts";
import { localProvider } from "./local-provider.ts";
import { handlerFor, settingsFor, silent } from "./stage.ts";

/** A worker that provisions, in a process of its own, for tests and benchmarks that kill or measure it. */
const [url = "", folder = "", seconds = "0.05", program = "tofu", leaseMs = "10000", concurrency = "8"] =
  process.argv.slice(2);
const db = connect({ url }, { poolSize: 10, onError: () => undefined }).kysely;
const provider = localProvider({ folder, seconds: Number(seconds) });
// It is killed more often than a worker ever is.
const handler = { ...handlerFor({ db, provider, settings: settingsFor(program) }), maxAttempts: 1_000 };

const worker = startWorker({
  db,
  bus: createMemoryBus(silent),
  log: silent,
  handlers: { provisioning: handler },
  leaseMs: Number(leaseMs),
  concurrency: Number(concurrency),
  pollMs: 50,
});
process.once("SIGTERM", () => void worker.stop(0).then(() => process.exit(0)));
process.stdout.write("ready\n");
