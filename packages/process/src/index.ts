export { type FairQueue, fairQueue, QueueFull } from "./fair-queue.ts";
export * from "./parsers.ts";
export {
  configOrExit,
  exitOnOldNode,
  fail,
  limitGarbage,
  releaseStartupMemory,
  stopOnSignal,
} from "./process.adapter.ts";
export {
  type ConfigOf,
  ConfigProblems,
  type Env,
  LOG_LEVEL,
  type LogLevel,
  optional,
  readConfig,
  required,
  setting,
  type Variable,
} from "./read-config.ts";
