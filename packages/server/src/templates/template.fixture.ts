import type { Client } from "@binnacle/world";
import { insertCluster } from "../access/bindings.fixture.ts";
import type { Queries } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";

/** A name that nobody else has in the test's world. */
export const someName = (word = "t") => `${word}-${newId().slice(-12)}`;

/** A minimal template with one parameter. */
export const content = (changes: object = {}) => ({
  name: someName("template"),
  version: "1.2.3",
  scope: "organization",
  parameters: [{ name: "image", type: "string", required: true }],
  components: [{ name: "web", workload_spec: { image: `\${image}` } }],
  ...changes,
});

/** The name of a template of the organization. */
export async function someTemplate(api: Client, org: string, namespace: string): Promise<string> {
  const made = await api.post("/stack-templates", content({ namespace, org_id: org }));
  if (made.status !== 201) throw new Error(`no template was made: ${JSON.stringify(made.body)}`);
  return made.body.name;
}

export interface Place {
  readonly org: string;
  readonly cluster: string;
  readonly project: string;
  readonly namespace: string;
}

/** A project on a cluster of its own, as rows, unless told where. */
export async function insertPlace(
  db: Queries,
  org: string,
  where: { readonly cluster?: string; readonly namespace?: string } = {},
): Promise<Place> {
  const { cluster = await insertCluster(db, org), namespace = someName("ns") } = where;
  const project = newId();
  const times = { created_at: new Date(), updated_at: new Date() };
  await db
    .insertInto("projects")
    .values({ id: project, org_id: org, cluster_id: cluster, name: namespace, namespace, ...times })
    .execute();
  return { org, cluster, project, namespace };
}
