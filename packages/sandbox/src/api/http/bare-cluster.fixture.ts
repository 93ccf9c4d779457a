import { type ClusterOptions, createCore } from "../core.adapter.ts";
import type { LogSource, UsageSource } from "../ports.ts";
import { storeOf } from "../store-of.ts";
import { createHandler } from "./handler.adapter.ts";

const NO_LOGS: LogSource = { read: () => null, follow: () => () => undefined };
const NO_USAGE: UsageSource = { pod: () => null, node: () => null };

export interface BareClusterOptions extends ClusterOptions {
  readonly token?: string;
  readonly logSource?: LogSource;
  readonly usageSource?: UsageSource;
}

/** An API with nobody behind it, and with the namespace `shop`. */
export function bareCluster({
  token,
  logSource = NO_LOGS,
  usageSource = NO_USAGE,
  ...options
}: BareClusterOptions = {}) {
  const core = createCore(options);
  const store = storeOf(core);
  for (const name of ["default", "shop"])
    if (!store.get("namespaces", name)) store.create("namespaces", { metadata: { name } });
  return { core, store, handler: createHandler({ core, token: token ?? null, logSource, usageSource }) };
}
