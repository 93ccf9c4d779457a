/** What hub and operator agree on before the first frame. */

export const HUB_PATH = "/hub/v1";
export const LINK_SUBPROTOCOL = "binnacle.hub.v1";
/**
 * Offered instead by an operator that waits to take over from another one: the hub checks its hello and ends with `trialPassed`, and the
 * session of the other one stays. A hub that does not know it refuses the connection.
 */
export const LINK_TRIAL_SUBPROTOCOL = "binnacle.hub.v1.trial";
/** Raised when an older peer could not understand the frames any more. */
export const LINK_VERSION = 1;

/** How the hub ends a session, and what the operator makes of it. */
export const CLOSE = {
  /** The hub would admit this operator. */
  trialPassed: 4200,
  /**
   * A frame that breaks the protocol: not JSON, unknown, out of order, too large, beyond the credit of its stream, or about somebody
   * else's resource.
   */
  protocolError: 4400,
  unauthenticated: 4401,
  revoked: 4403,
  /** A newer session of the same cluster has taken over. */
  superseded: 4409,
  clusterDeleted: 4410,
  versionTooOld: 4426,
  /** Try again later; the reason says after how many seconds. */
  busy: 4429,
  draining: 4503,
} as const;
export type CloseCode = (typeof CLOSE)[keyof typeof CLOSE];

export const LINK_LIMITS = {
  /** Of one frame, in either direction. */
  frameBytes: 2 * 1024 * 1024,
  helloWithinMs: 10_000,
  heartbeatSeconds: 30,
  /** A side that sends nothing for this long is considered dead. */
  deadAfterMs: 75_000,
  inFlight: 32,
  ackWithinMs: 30_000,
  /** Entries of one page of inventory. */
  inventoryPage: 500,
  /** The credit of a stream, and how much is added at a time. */
  streamCreditBytes: 64 * 1024,
  /** The most that one log line takes of the credit: 16 Ki characters, each of them escaped, and its names. */
  logLineBytes: 128 * 1024,
  followedPods: 20,
} as const;
