import { fileURLToPath } from "node:url";
import type { CloudProvider } from "../provider.ts";
import { type AwsAccess, environment, machineAddress, newestOf, variables } from "./aws.ts";
import { estimate } from "./aws-estimate.ts";
import { failureOfDiagnostics } from "./aws-failure.ts";
import { createPacer } from "./aws-pacer.adapter.ts";
import type { QueryOptions } from "./aws-query.adapter.ts";

export interface AwsOptions {
  /** The address of all services of AWS, for tests. */
  readonly endpoint?: string;
  /** The folder of another module, for tests. */
  readonly module?: string;
  readonly deadlineMs?: number;
  readonly backOffMs?: number;
  readonly random?: () => number;
  readonly pollMs?: number;
  readonly patienceMs?: number;
}

const MODULE = fileURLToPath(new URL("../../../../../deploy/tofu/aws-k3s", import.meta.url));

export function awsProvider(options: AwsOptions = {}): CloudProvider<AwsAccess> {
  const { endpoint, deadlineMs = 10_000, backOffMs = 500, pollMs = 3000, patienceMs = 600_000 } = options;
  const { random = Math.random } = options;
  const queryOptions: QueryOptions = { endpoint, deadlineMs, backOffMs, random, pacer: createPacer() };
  // What speaks to AWS is loaded with its first use: most installations never make a cluster.
  const queriesFor = async (access: AwsAccess, signal: AbortSignal) =>
    (await import("./aws-query.adapter.ts")).queries(access, queryOptions, signal);
  return {
    module: options.module ?? MODULE,
    variables,
    machineAddress,
    environment: (access) => environment(access, endpoint),
    failureOf: failureOfDiagnostics,
    estimate,
    existing: async (access, clusterId, signal) => {
      const { inventory } = await import("./aws-inventory.adapter.ts");
      return inventory(await queriesFor(access, signal), clusterId);
    },
    remove: async (access, resources, signal) => {
      const { removeAll } = await import("./aws-removal.adapter.ts");
      await removeAll(await queriesFor(access, signal), resources, { pollMs, patienceMs }, signal);
    },
    newestSnapshot: async (access, clusterId, bucket, signal) => {
      const { listedObjects } = await import("./aws-query.adapter.ts");
      const place = { bucket, prefix: `${clusterId}/` };
      return newestOf(clusterId, await listedObjects(access, queryOptions, signal, place));
    },
    check: async (access, signal) => {
      const { serviceQuota } = await import("./aws-query.adapter.ts");
      const { checkAccess } = await import("./aws-check.adapter.ts");
      const quota = (service: string, code: string) => serviceQuota(access, queryOptions, signal, { service, code });
      return checkAccess(await queriesFor(access, signal), quota, access);
    },
  };
}
