import { DETACH_REQUEST } from "./detach.ts";
import { InfrastructureRequests } from "./infrastructure.ts";
import { OBSERVATIONS } from "./observed.ts";
import { RunRequests } from "./runs.ts";

/** Listed by an operator that may give its own Deployment another image. */
export const UPGRADE_REQUEST = "upgrade_operator";

/** Requests that not every operator knows. It lists those that it can answer in its hello, and no others are sent to it. */
export const NEGOTIATED_REQUESTS: readonly string[] = [
  ...OBSERVATIONS,
  ...Object.keys(RunRequests),
  ...Object.keys(InfrastructureRequests),
  "exec",
  UPGRADE_REQUEST,
  DETACH_REQUEST,
];
