import { type RawBuilder, sql } from "kysely";

/**
 * What is from before this time is deleted, as the statement that deletes it says the time: the clock of a process may be weeks ahead, and
 * what it deletes is gone for all.
 */
export const keptUntil = (keptMs: number): RawBuilder<Date> => sql`(now() - ${keptMs} * interval '1 millisecond')`;
