import Type from "typebox";
import { WorkloadSpec } from "../app/component.ts";
import { codedConflictBody } from "../errors.ts";
import { strict, Uuid } from "../fields.ts";
import { ComponentRun } from "../link/runs.ts";
import { operation } from "../operation.ts";
import { streaming, streamOptions } from "./app-operations.ts";
import { appParams, appQuery } from "./apps.ts";

const { command, args } = WorkloadSpec.properties;
const EnvVar = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 253, pattern: "^[A-Za-z_][A-Za-z0-9_.-]*$", examples: ["LOG_LEVEL"] }),
    value: Type.String({ maxLength: 32_768 }),
  },
  { ...strict, examples: [{ name: "LOG_LEVEL", value: "debug" }] },
);

export const runComponent = operation({
  id: "runComponent",
  method: "POST",
  path: "/apps/{namespace}/{name}/components/{component}/run",
  tag: "Apps",
  summary: "Run the image of a workload once, with another command if you like; project editor",
  description:
    "Made of what runs in the cluster now: image, variables, secrets and resources, without volumes, probes and ports. The " +
    "cluster keeps it for 24 hours after it has ended, and ends it after 24 hours. Without an operator that is connected: 503.",
  credentials: "user",
  params: Type.Object({ ...appParams, component: Type.String({ maxLength: 253, examples: ["web"] }) }),
  query: Type.Object(appQuery),
  body: Type.Object({ command, args, env: Type.Optional(Type.Array(EnvVar, { maxItems: 100 })) }, strict),
  bodyIsOptional: true,
  success: [202, ComponentRun],
  failures: [404, 502, 504],
  failureBodies: codedConflictBody,
});

const params = Type.Object({ ...appParams, run_id: Uuid() });

export const getComponentRun = operation({
  id: "getComponentRun",
  method: "GET",
  path: "/apps/{namespace}/{name}/runs/{run_id}",
  tag: "Apps",
  summary: "Read a run: whether it has ended, and with which exit code",
  description: "Read in the cluster at this moment. A run that is not kept any more is a 404.",
  credentials: "user",
  params,
  query: Type.Object(appQuery),
  success: [200, ComponentRun],
  failures: [404, 502, 504],
});

export const streamRunLogs = operation({
  ...streaming,
  id: "streamRunLogs",
  path: "/apps/{namespace}/{name}/runs/{run_id}/logs",
  summary: "Follow the logs of a run",
  description: "It ends when the run has ended. Without an operator that is connected: 503.",
  params,
  query: Type.Object({ ...appQuery, ...streamOptions }),
});
