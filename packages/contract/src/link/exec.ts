import Type, { type Static } from "typebox";
import { Nullable } from "../fields.ts";

/** The subprotocol between a client and the server. */
export const EXEC_SUBPROTOCOL = "binnacle.exec.v1";
/** A browser cannot set headers of a WebSocket, so it offers its token as a second subprotocol, which is never selected. */
export const EXEC_BEARER_PREFIX = "binnacle.bearer.";

/** The first byte of every frame between a client and the server. */
export const EXEC_CHANNELS = { stdin: 0, stdout: 1, stderr: 2, exit: 3, resize: 4 } as const;

export const EXEC_LIMITS = {
  /** Of the content of one frame, in every direction. */
  frameBytes: 32 * 1024,
  /** Without input and output for this long, a session ends. */
  idleMs: 15 * 60_000,
  longestMs: 8 * 60 * 60_000,
  /** A client that answers no ping between two of them is gone. */
  pingMs: 30_000,
  /** Of one user on one server. */
  perUser: 10,
  perCluster: 32,
} as const;

/** How the server closes a session. The reason is a sentence for people. */
export const EXEC_CLOSE = {
  /** The command has ended; the frame on the channel `exit` came before. */
  exited: 1000,
  stopping: 1001,
  /** A frame that is not a frame of this protocol. */
  protocolError: 4400,
  /** The access token or CLI token has ended. */
  credentialEnded: 4401,
  /** The caller may no longer do this. */
  accessLost: 4403,
  /** The app or the component is being deleted, or is gone. */
  appGone: 4404,
  idle: 4408,
  /** Switched off for the cluster. */
  disabled: 4409,
  tooLong: 4410,
  /** The cluster could not run the command. */
  failed: 4502,
  /** The connection to the cluster was lost. */
  operatorLost: 4503,
} as const;

export const TerminalSize = Type.Object({
  cols: Type.Integer({ minimum: 1, maximum: 1_000 }),
  rows: Type.Integer({ minimum: 1, maximum: 1_000 }),
});
export type TerminalSize = Static<typeof TerminalSize>;

/** Bytes in base64, at most as many as fit into one frame. */
export const Chunk = Type.String({
  maxLength: Math.ceil(EXEC_LIMITS.frameBytes / 3) * 4,
  pattern: "^[A-Za-z0-9+/]*={0,2}$",
});

/** Opened without credit: the operator chooses the container, says which one, and starts the command with the first credit. */
export const ExecStream = Type.Object({
  name: Type.Literal("exec"),
  namespace: Type.String(),
  app: Type.String(),
  component: Type.String(),
  /** Null lets the operator choose one that runs. */
  pod: Nullable(Type.String({ maxLength: 253 })),
  container: Nullable(Type.String({ maxLength: 253 })),
  command: Type.Array(Type.String(), { minItems: 1, maxItems: 100 }),
  tty: Type.Boolean(),
  size: TerminalSize,
});
export type ExecStream = Static<typeof ExecStream>;

export const EXEC_FAILURES = ["not_found", "not_running", "too_many", "unavailable", "failed"] as const;
export type ExecFailure = (typeof EXEC_FAILURES)[number];
