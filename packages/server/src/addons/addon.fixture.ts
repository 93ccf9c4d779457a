import type { Person, ProjectWithPeople, World } from "@binnacle/world";
import { expect } from "vitest";
import { definitionId } from "../catalog/catalog-file.ts";
import { rowsOf } from "../http/rows.fixture.ts";
import type { Vault } from "../vault/vault.ts";
import type { Instance } from "./addon.ts";

export const POSTGRESQL = definitionId("postgresql");
export const RABBITMQ = definitionId("rabbitmq");
export const NOBODY = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";

/** An instance as it is kept, for decisions that need nothing else. */
export function someInstance(facts: Partial<Instance> = {}): Instance {
  const at = new Date("2026-01-31T09:30:00.000Z");
  return {
    id: NOBODY,
    org_id: NOBODY,
    cluster_id: NOBODY,
    project_id: NOBODY,
    namespace: "shop",
    name: "db",
    definition_id: NOBODY,
    values: {},
    chart_version: "1.0.0",
    generation: 3,
    revision_number: 2,
    phase: "ready",
    phase_since: at,
    phase_reason: null,
    phase_message: null,
    observed_generation: 2,
    exports: {},
    component_statuses: [],
    drift_state: "unknown",
    drift_summary: null,
    drift_fields: [],
    drift_detected_at: null,
    drift_repairs: [],
    reported_at: null,
    created_at: at,
    updated_at: at,
    ...facts,
  };
}

/** Makes an instance as the project's editor does, and brings the answer's body. */
export async function addonIn({ project, editor }: ProjectWithPeople, fields: object = {}) {
  const body = { name: "db", project_id: project, addon_definition_id: POSTGRESQL, ...fields };
  const answer = await editor.api.post("/addon-instances", body);
  if (answer.status !== 201) throw new Error(`the addon was refused: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** The opened secrets of the instance, by path. */
export async function secretsOf(world: World, vault: Vault, instanceId: string): Promise<Record<string, string>> {
  const rows = await world.database.kysely
    .selectFrom("addon_secrets")
    .selectAll()
    .where("addon_instance_id", "=", instanceId)
    .execute();
  const opened = rows.map(({ id: row, path, sealed_value }) => [
    path,
    vault.open(sealed_value, { table: "addon_secrets", row, column: "sealed_value" }),
  ]);
  return Object.fromEntries(opened);
}

/** Sends it, and makes sure that nothing came of it. */
export async function refused(
  world: World,
  person: Person,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
) {
  const before = await rowsOf(world);
  const answer = await person.api.send(method, path, { ...(body ? { body } : {}), headers });
  expect(await rowsOf(world)).toEqual(before);
  return answer;
}

/** Each field that a 422 names, with what is wrong there. */
export const problemsOf = ({ body }: { body: { detail: { loc: unknown[]; type: string }[] } }) =>
  body.detail.map(({ loc, type }) => [loc.join("."), type]);
