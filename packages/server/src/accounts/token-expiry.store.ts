import { sql } from "kysely";
import { orgIdsOf } from "../access/visibility.store.ts";
import { appendAudit } from "../audit/audit.store.ts";
import { auditRow, inEachOrg } from "../audit/audit.ts";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { inTransaction, type Queries, type Tx } from "../database/transaction.ts";
import { activityOf, type Event, publishEvents } from "../events/event.ts";
import { logEvents } from "../events/event-log.store.ts";
import { newId } from "../id.adapter.ts";
import type { Log } from "../outage.ts";
import { type CliToken, cliTokenResource, soonUntil } from "./cli-token.ts";

interface Ports {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
}

type Expiring = Pick<CliToken, "id" | "name" | "user_id" | "expires_at"> & { readonly email: string };

/** Few enough that their locks are held for milliseconds. */
const BATCH_ROWS = 200;

const BY_THE_SYSTEM = {
  actor: { id: null, email: null, via: "system" },
  sourceAddress: null,
  requestId: null,
} as const;

/**
 * Announces each CLI token that expires within 7 days, once: as an audit entry in the organizations of its user, as an event
 * for their administrators and for the user, and in the log. Any number of replicas may do so at once. The replica that
 * marks a token announces it.
 */
export async function announceExpiringTokens({ db, bus, clock, log }: Ports): Promise<void> {
  for (let found = BATCH_ROWS; found === BATCH_ROWS; ) {
    const now = clock();
    const { tokens, events } = await inTransaction(db, async (tx) => {
      const marked = await markExpiring(tx, now);
      const announced: Event[] = [];
      for (const token of marked) announced.push(...(await recordExpiring(tx, token, now)));
      await logEvents(tx, announced);
      return { tokens: marked, events: announced };
    });
    publishEvents(bus, events);
    for (const { id, user_id, expires_at } of tokens) {
      log.warn({ cli_token: id, user: user_id, expires_at }, "a CLI token expires within 7 days");
    }
    found = tokens.length;
  }
}

/** A token that is valid for 7 days or less expires soon from the start, so nobody is notified. */
async function markExpiring(tx: Tx, now: Date): Promise<Expiring[]> {
  const { rows } = await sql<Expiring>`
    update cli_tokens t set expiry_announced_at = ${now} from users u
    where u.id = t.user_id and t.id in (
      select id from cli_tokens
      where expiry_announced_at is null and expires_at > ${now} and expires_at <= ${soonUntil(now)}
        and expires_at > created_at + interval '7 days'
      order by expires_at limit ${BATCH_ROWS} for update skip locked
    )
    returning t.id, t.name, t.user_id, t.expires_at, u.email
  `.execute(tx);
  return rows;
}

async function recordExpiring(tx: Tx, token: Expiring, now: Date): Promise<Event[]> {
  const entry = {
    action: "cli_token.expires_soon",
    resource: cliTokenResource(token),
    changes: { user_id: token.user_id, email: token.email, expires_at: token.expires_at.toISOString() },
  };
  const rows = inEachOrg(entry, await orgIdsOf(tx, token.user_id)).map((record) =>
    auditRow(record, BY_THE_SYSTEM, newId(), now),
  );
  await appendAudit(tx, rows);
  // The user receives one event, however many organizations have an entry.
  return rows.map((row, index) => ({ ...activityOf(row, null), ...(index === 0 ? { user_id: token.user_id } : {}) }));
}
