import type { DesiredKind } from "@binnacle/contract";
import type { Queries } from "../database/transaction.ts";
import type { DispatchedKind, PendingRow } from "../dispatch/kind.ts";
import { Fault } from "../fault.ts";
import { type Files, fileText, README, README_PATH, type Rendered } from "./content.ts";

/** A resource of a cluster, wanted or removed. */
interface KeptResource {
  readonly kind: DesiredKind;
  readonly resourceId: string;
  readonly key: string;
  readonly isRemoved?: boolean | undefined;
}

/** Renders resources as they are now, in a few statements for all of them. The kinds say which file each has. */
export async function renderFiles(
  db: Queries,
  kinds: readonly DispatchedKind[],
  clusterId: string,
  resources: readonly KeptResource[],
): Promise<Files> {
  const files: Record<string, string | null> = {};
  for (const kind of kinds) {
    const ofKind = resources.filter((resource) => resource.kind === kind.kind);
    const wanted = ofKind.filter(({ isRemoved }) => !isRemoved).map((resource) => rowOf(clusterId, resource));
    const bodyOf = wanted.length > 0 ? await kind.loadBodies(db, wanted) : () => null;
    for (const { key, isRemoved } of ofKind) if (isRemoved) files[kind.file(key).path] = null;
    for (const row of wanted) {
      const file = kind.file(row.key);
      const rendered = renderedBy(() => bodyOf(row));
      files[file.path] = rendered && fileText(file, row.resource_id, rendered);
    }
  }
  return files;
}

/** A resource that can never be sent as it is has a file that says so; anything else that goes wrong is a fault of ours. */
function renderedBy(body: () => ReturnType<Awaited<ReturnType<DispatchedKind["loadBodies"]>>>): Rendered | null {
  try {
    const found = body();
    return found && { body: found };
  } catch (error) {
    if (error instanceof Fault) return { problem: error.message };
    throw error;
  }
}

const rowOf = (cluster_id: string, { kind, resourceId, key }: KeptResource): PendingRow => ({
  cluster_id,
  kind,
  resource_id: resourceId,
  key,
  generation: 1,
  revision: 1,
  removed_at: null,
});

interface State {
  readonly files: ReadonlyMap<string, string>;
  /** Of the cluster, with all that is in the files. */
  readonly revision: number;
  readonly resources: readonly { readonly resource_id: string; readonly generation: number }[];
}

/** Everything that a cluster is to have. In a transaction that sees one moment, it is the state at that moment. */
export async function wholeState(db: Queries, kinds: readonly DispatchedKind[], clusterId: string): Promise<State> {
  const cluster = await db.selectFrom("clusters").select("revision").where("id", "=", clusterId).executeTakeFirst();
  const rows = await db
    .selectFrom("desired_resources")
    .select(["kind", "resource_id", "key", "generation"])
    .where("cluster_id", "=", clusterId)
    .where("removed_at", "is", null)
    .execute();
  const resources = rows.map(({ kind, resource_id, key }) => ({ kind, key, resourceId: resource_id }));
  const rendered = Object.entries(await renderFiles(db, kinds, clusterId, resources));
  const files = new Map(rendered.flatMap(([path, text]) => (text === null ? [] : [[path, text] as const])));
  files.set(README_PATH, README);
  return {
    files,
    revision: cluster?.revision ?? 0,
    resources: rows.map(({ resource_id, generation }) => ({ resource_id, generation })),
  };
}
