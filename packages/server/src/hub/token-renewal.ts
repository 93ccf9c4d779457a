import type { Clock } from "../clock.ts";
import { AGENT_TOKEN_LIFETIME_MS, type AgentTokens } from "../clusters/agent-token.ts";
import { nextTokenVersion } from "../clusters/cluster.store.ts";
import { inTransaction, type Queries } from "../database/transaction.ts";
import { newId } from "../id.ts";
import type { Log } from "../outage.ts";
import { isRenewalDue } from "./overdue.ts";
import type { Session } from "./session.ts";

/** An operator that does not say that it has stored its token is offered another one after this. */
const AGAIN_AFTER_MS = 60 * 60_000;

interface Ports {
  readonly db: Queries;
  readonly clock: Clock;
  readonly tokens: AgentTokens;
  readonly log: Log;
}

export interface TokenRenewal {
  /** Gives the operator a token of the next version, where its own comes to an end. */
  offer(session: Session): Promise<void>;
  /** The operator has stored it, and will come back with it. */
  stored(session: Session): void;
}

export function createTokenRenewal({ db, clock, tokens, log }: Ports): TokenRenewal {
  return {
    async offer(session) {
      const { renewal, clusterId, tokenExpiresAt } = session;
      if (session.state !== "live" || !isRenewalDue(tokenExpiresAt, AGENT_TOKEN_LIFETIME_MS, clock())) return;
      const nowMs = performance.now();
      if (renewal !== null && nowMs - renewal.askedAtMs < AGAIN_AFTER_MS) return;
      const tokenVersion = await inTransaction(db, (tx) => nextTokenVersion(tx, clusterId, clock()));
      const { token, expiresAt } = await tokens.mint(clusterId, tokenVersion);
      const id = newId();
      session.renewal = { frameId: id, tokenVersion, expiresAt, askedAtMs: nowMs };
      const expires_at = expiresAt.toISOString();
      session.send({ type: "renew_token", id, session: session.sessionId, token, expires_at });
    },
    stored(session) {
      const { renewal } = session;
      if (renewal === null) return;
      session.tokenVersion = renewal.tokenVersion;
      session.tokenExpiresAt = renewal.expiresAt;
      session.renewal = null;
      log.info({ cluster_id: session.clusterId, token_version: renewal.tokenVersion }, "a token was renewed");
    },
  };
}
