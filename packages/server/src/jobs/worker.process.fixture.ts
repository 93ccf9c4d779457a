import pino from "pino";
import { createMemoryBus } from "../bus/bus.adapter.ts";
import { connect } from "../database/connection.adapter.ts";
import { startWorker } from "./worker.runner.ts";

/** A worker in a process of its own, for tests that kill it. Its jobs never end; it prints the id of each it starts. */
const [url = "", leaseMs = "1000"] = process.argv.slice(2);
const log = pino({ level: "silent" });

startWorker({
  db: connect({ url }, { poolSize: 2, onError: () => undefined }).kysely,
  bus: createMemoryBus(log),
  log,
  leaseMs: Number(leaseMs),
  pollMs: 50,
  handlers: {
    endless: {
      run(job) {
        process.stdout.write(`${job.id}\n`);
        return new Promise(() => undefined);
      },
    },
  },
});
