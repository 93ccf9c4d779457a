import { parseArgs } from "node:util";
import { shortfalls, summary } from "./report.ts";
import { fuzz } from "./run.ts";

/**
 * `npm run fuzz -- --requests 100000 --seconds 1800 --seed 1 --only createApp,updateApp`
 *
 * Starts a server of its own, sends it requests that are made from its OpenAPI document, and holds each answer against
 * that document. Ends with 1 where anything was found.
 */
const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "100000" },
    seconds: { type: "string", default: "1800" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
    only: { type: "string", default: "" },
  },
});
const options = {
  requests: Number(values.requests),
  seconds: Number(values.seconds),
  seed: Number(values.seed),
  only: values.only.split(",").filter(Boolean),
};
const print = (line: string) => process.stdout.write(`${line}\n`);
print(`Seed ${options.seed}`);
const report = await fuzz(options, print);
print(`\n${summary(report)}`);
const missed = shortfalls(report);
for (const line of missed) print(line);
if (report.findings.length + missed.length > 0) print(`\nThe same choices again: --seed ${options.seed}`);
process.exitCode = report.findings.length + missed.length > 0 ? 1 : 0;
