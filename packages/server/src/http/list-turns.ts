import { type FairQueue, fairQueue, QueueFull } from "@binnacle/process";
import { Fault } from "../fault.ts";

/** A user's lists under way, until their answers are sent; further ones wait, and those beyond are a 429. */
const LISTS_AT_ONCE = 4;
/** One without pages may be of many rows, which take PostgreSQL longer than a page. */
const WHOLE_LISTS_AT_ONCE = 1;
const LISTS_WAITING = 100;
/** An organization's lists that are read at once, of all its members: about half of the connections that requests have. */
const ORG_LISTS_AT_ONCE = 6;
const ORG_LISTS_WAITING = 1_000;

/** Whose list it is. A user without an organization counts alone. */
export interface Asker {
  readonly userId: string;
  readonly orgId: string | null;
}

/** Reads in the turn of the organization. */
export type Read = <T>(reading: () => Promise<T>) => Promise<T>;

export interface ListTurns {
  /** The user's turn lasts until the work is over, and the organization's while it reads. */
  take(asker: Asker, work: (read: Read) => Promise<void>): Promise<void>;
}

/** Of all lists of a process. */
export function listTurns(): { readonly pages: ListTurns; readonly whole: ListTurns } {
  const ofOrg = turns(ORG_LISTS_AT_ONCE, ORG_LISTS_WAITING, "Your organization has", "lists");
  const kind = (atOnce: number, ofKind: string): ListTurns => {
    const ofUser = turns(atOnce, LISTS_WAITING, "You have", ofKind);
    return {
      take: ({ userId, orgId }, work) => ofUser(userId, () => work((reading) => ofOrg(orgId ?? userId, reading))),
    };
  };
  return { pages: kind(LISTS_AT_ONCE, "lists"), whole: kind(WHOLE_LISTS_AT_ONCE, "list without pages") };
}

function turns(atOnce: number, waiting: number, whoHas: string, ofKind: string): FairQueue {
  const queue = fairQueue({ atOnce: Number.POSITIVE_INFINITY, atOncePerCaller: atOnce, waitingPerCaller: waiting });
  const full = `${whoHas} ${atOnce} ${ofKind} under way and ${waiting} waiting. Read their answers before you ask for more.`;
  return (caller, work) =>
    queue(caller, work).catch((error) => {
      throw error instanceof QueueFull ? new Fault("rate_limited", full, { retryAfterSeconds: 1 }) : error;
    });
}
