import { oneOf } from "./config/parsers.ts";
import { setting } from "./config/variable.ts";

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_LEVEL = setting(
  "BINNACLE_LOG_LEVEL",
  "info",
  oneOf(LOG_LEVELS),
  "`trace`, `debug`, `info`, `warn`, `error` or `silent`",
);
