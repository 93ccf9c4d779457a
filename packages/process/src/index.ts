export * from "./config/parsers.ts";
export { ConfigProblems, type Env, readConfig } from "./config/read-config.ts";
export { optional, required, setting, type Variable } from "./config/variable.ts";
export { LOG_LEVEL, type LogLevel } from "./log-level.ts";
export { configOrExit, exitOnOldNode, fail } from "./start.adapter.ts";
export { releaseStartupMemory } from "./startup-memory.adapter.ts";
export { stopOnSignal } from "./stop-on-signal.adapter.ts";
