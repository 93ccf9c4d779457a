import type { FastifyReply } from "fastify";
import type { Clock } from "../clock.ts";
import { inTransaction, type Queries } from "../database/transaction.ts";
import type { Change } from "../http/change.runner.ts";
import { countAttempt, countRefusal, tallyKeys } from "./login-tally.store.ts";
import { isRecorded, LoggedRefusals } from "./login-throttle.ts";
import type { Passwords } from "./password.adapter.ts";
import { recordInOrgsOf, type UserWithHash } from "./user.store.ts";
import { userResource } from "./user.ts";

interface Ports {
  readonly db: Queries;
  readonly passwords: Passwords;
  readonly clock: Clock;
}

/** One attempt to prove the password of an account. */
interface Attempt {
  readonly user: UserWithHash | undefined;
  /** The name that the attempt is counted under. It may be any text where no such user exists. */
  readonly account: string;
  readonly password: string;
  /** The addresses that the attempt is counted by. */
  readonly sources: readonly string[];
  /** The action of a refusal in the audit log. */
  readonly refusal: string;
  readonly reply: FastifyReply;
  readonly change: Change;
}

/**
 * Returns false for a wrong password, an unknown or disabled user and a throttled attempt, after the same work in each
 * case.
 */
export type IsPasswordRight = (attempt: Attempt) => Promise<boolean>;

export function passwordCheck({ db, passwords, clock }: Ports): IsPasswordRight {
  const loggedRefusals = new LoggedRefusals();

  /** Some people type their password where the name belongs, so a name that no account has is not logged. */
  function logRefusal({ user, refusal: action, reply }: Attempt): void {
    const account = user?.username ?? null;
    const { ip: source, id: request_id } = reply.request;
    const refused = loggedRefusals.count(source, clock().getTime());
    if (refused !== null) reply.log.warn({ request_id, action, account, source, refused }, "a password was refused");
  }

  async function recordRefusal(user: UserWithHash, { refusal, change }: Attempt): Promise<void> {
    const { refused, window_started_at } = await countRefusal(db, user.id, clock());
    if (!isRecorded(refused)) return;
    await change((unit) =>
      recordInOrgsOf(user.id, unit, {
        action: refusal,
        resource: userResource(user),
        changes: { refused, since: window_started_at.toISOString() },
      }),
    );
  }

  return async (attempt) => {
    const { user, account, password, sources, reply } = attempt;
    const keys = tallyKeys(sources, [account]);
    const refusedUntil = await inTransaction(db, (tx) => countAttempt(tx, keys, account, clock()));
    const isOpen = user !== undefined && !user.disabled && refusedUntil === null;
    const isRight = await passwords.matches(password, isOpen ? user.password_hash : null);
    if (!isRight) {
      // The refusal is recorded after the answer is sent. Otherwise the response time would reveal that the account
      // exists.
      reply.raw.once("close", () => {
        logRefusal(attempt);
        if (!user) return;
        recordRefusal(user, attempt).catch((error: unknown) =>
          reply.log.warn({ err: error }, "a refused sign-in could not be recorded"),
        );
      });
    }
    return isRight;
  };
}
