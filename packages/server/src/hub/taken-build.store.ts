import { type OperatorFrames, safeText } from "@binnacle/contract";
import { sql } from "kysely";
import type { Queries } from "../database/transaction.ts";
import type { Announcement } from "../events/event.ts";
import type { Fence } from "./ports.ts";

/**
 * What subscribers are to hear of a build; null where the session is not the registered one any more. It belongs to the
 * project of its namespace, and to the cluster alone where the namespace is nobody's.
 */
export async function announcementOfBuild(
  db: Queries,
  { clusterId, hubId, epoch }: Fence,
  build: OperatorFrames["build"],
): Promise<Announcement | null> {
  const { type, session: _, namespace, name, image, ...facts } = build;
  const { rows } = await sql<{ org_id: string; project_id: string | null }>`
    select c.org_id, p.id as project_id from clusters c
    join cluster_sessions s on s.cluster_id = c.id
    left join projects p on p.cluster_id = c.id and p.namespace = ${namespace}
    where c.id = ${clusterId} and s.hub_id = ${hubId} and s.epoch = ${epoch}
  `.execute(db);
  const [place] = rows;
  if (!place) return null;
  return {
    type,
    org_id: place.org_id,
    cluster_id: clusterId,
    ...(place.project_id === null ? {} : { project_id: place.project_id }),
    resource: { type: "build", id: null, name: safeText(name), namespace: safeText(namespace) },
    ...facts,
    image: image === null ? null : safeText(image),
  };
}
