import { type Client, type ClientOptions, makeClient } from "./client.ts";
import { realClock } from "./clock.adapter.ts";

/** A client of one control plane, as one caller. */
export function createClient(options: ClientOptions): Client {
  return makeClient({ ...options, clock: options.clock ?? realClock });
}

export { attachmentChange, standsFor } from "./attachment.ts";
export type { Attempted, CallOptions, Client, ClientOptions, Reply } from "./client.ts";
export type { Clock } from "./clock.ts";
export type { GetCredential, SessionTokens } from "./credentials.ts";
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
export type * from "./generated/types.ts";
export type { LogLine } from "./log-cursor.ts";
export {
  type Answer,
  type CallName,
  describeCall,
  type Input,
  type ItemOf,
  type ListName,
  type OperationName,
  type StreamName,
} from "./operation.ts";
export type { Requirement } from "./requirement.ts";
export type { RetryPolicy } from "./retry.ts";
export type { FollowOptions, StreamData, StreamItem } from "./stream.ts";
export type { Attempt } from "./transport.ts";
