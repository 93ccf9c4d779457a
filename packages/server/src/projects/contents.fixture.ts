import type { Queries } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";

/** A project, as the rows of what it holds name it. */
export interface Location {
  readonly org_id: string;
  readonly cluster_id: string;
  readonly project_id: string;
  readonly namespace: string;
}

const times = () => ({ created_at: new Date(), updated_at: new Date() });

/** An app that runs, as a row. */
export async function insertApp(db: Queries, location: Location, name: string): Promise<string> {
  const id = newId();
  const components = JSON.stringify([{ name: "web", exports: { path: "/v1" }, workload_spec: { image: "nginx" } }]);
  await db
    .insertInto("apps")
    .values({ id, ...location, name, components, generation: 1, revision: 1, phase: "running", ...times() })
    .execute();
  return id;
}

/** An addon instance that is ready, as a row. */
export async function insertAddonInstance(
  db: Queries,
  location: Location,
  name: string,
  facts: { readonly definition_id?: string; readonly exports?: object } = {},
): Promise<string> {
  const id = newId();
  const { definition_id = newId(), exports = {} } = facts;
  await db
    .insertInto("addon_instances")
    .values({
      id,
      ...location,
      name,
      definition_id,
      values: "{}",
      chart_version: "1.0.0",
      generation: 1,
      revision_number: 1,
      phase: "ready",
      exports: JSON.stringify(exports),
      ...times(),
    })
    .execute();
  return id;
}
