import { parentPort, workerData } from "node:worker_threads";
import { parse } from "yaml";

/** Reads one text and ends. As JSON it crosses threads without anything that JSON has not. */
const value: unknown = parse(String(workerData), { maxAliasCount: 100, uniqueKeys: false, logLevel: "error" });
parentPort?.postMessage(JSON.stringify(value ?? null));
