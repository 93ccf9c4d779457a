import type { OperatorFrames } from "@binnacle/contract";
import { sql } from "kysely";
import type { Queries } from "../database/transaction.ts";
import type { Fence } from "./ports.ts";
import { sampleMinute } from "./sample-minute.ts";

/** Keeps one look a minute: the first. */
export async function keepSamples(
  db: Queries,
  { clusterId, hubId, epoch }: Fence,
  { at, used, capacity, components }: OperatorFrames["samples"],
  now: Date,
): Promise<void> {
  const minute = sampleMinute(at, now);
  if (minute === null) return;
  await sql`
    insert into metric_samples (cluster_id, at, sample)
    select cluster_id, ${minute}::timestamptz, ${JSON.stringify({ used, capacity, components })}::jsonb
    from cluster_sessions where cluster_id = ${clusterId} and hub_id = ${hubId} and epoch = ${epoch}
    on conflict do nothing
  `.execute(db);
}
