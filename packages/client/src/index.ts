import { type Client, type ClientOptions, makeClient } from "./client.ts";
import { realClock } from "./clock.adapter.ts";
import { type Deployed, type WaitOptions, waitForRevision } from "./deployment.ts";

/** A client of one control plane, as one caller. */
export function createClient(options: ClientOptions): Client {
  return makeClient({ ...options, clock: options.clock ?? realClock });
}

export { attachmentChange, standsFor } from "./attachment.ts";
/** Waits until the revision of an app that an operation has returned runs. */
export const waitForDeployment = (
  client: Client,
  app: Deployed,
  options: WaitOptions = {},
): ReturnType<typeof waitForRevision> => waitForRevision(client, options.clock ?? realClock, app, options);

export type { Attempted, CallOptions, Client, ClientOptions, Reply } from "./client.ts";
export type { Clock } from "./clock.ts";
export type { GetCredential, SessionEnd, SessionTokens } from "./credentials.ts";
export { type Deployed, DeploymentFailed, type WaitOptions } from "./deployment.ts";
export {
  BinnacleError,
  Conflict,
  type ErrorCode,
  type FailureOf,
  Forbidden,
  Invalid,
  NotFound,
  PreconditionFailed,
  RateLimited,
  Refused,
  ServerFault,
  TimedOut,
  Unauthenticated,
  UnexpectedAnswer,
  Unreachable,
} from "./errors.ts";
export type { ExecOptions, ExecSession } from "./exec.ts";
export { renameExportRefs } from "./export-ref-alias.ts";
export { ACCESS } from "./generated/access.ts";
export { POD_TROUBLES, REASONS } from "./generated/reasons.ts";
export type * from "./generated/types.ts";
export type { LogLine } from "./log-cursor.ts";
export { nearest } from "./nearest.ts";
export {
  type Answer,
  type CallName,
  describeCall,
  type Input,
  type ItemOf,
  type ListName,
  type OperationName,
  operationAt,
  type StreamName,
} from "./operation.ts";
export type { Requirement } from "./requirement.ts";
export type { RetryPolicy } from "./retry.ts";
export type { FollowOptions, StreamData, StreamItem } from "./stream.ts";
export type { Attempt } from "./transport.ts";
