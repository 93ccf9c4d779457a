import { type AddonDefinitionFile, canonicalJson, type Reason } from "@binnacle/contract";
import { sql } from "kysely";
import { reportingAt } from "../clusters/freshness.ts";
import type { Tx } from "../database/transaction.ts";
import { lockRecords } from "../dispatch/dispatch.store.ts";
import { type DispatchedKind, deletionOf, divideOutcomes, fileInProject } from "../dispatch/kind.ts";
import type { Announcement } from "../events/event.ts";
import { deleteEmptyProjects } from "../projects/project-kind.store.ts";
import type { Vault } from "../vault/vault.ts";
import { announcementOf, definitionGone, type Instance } from "./addon.ts";
import { addonAfterReport, addonBody, missingAddon } from "./addon-sync.ts";

type FindDefinition = (id: string) => AddonDefinitionFile | undefined;

/** The dispatched kind of addon instances. */
export const addonKind = (
  vault: Vault,
  findDefinition: FindDefinition,
): DispatchedKind<"addon_instance", Instance> => ({
  kind: "addon_instance",

  async loadBodies(db, rows) {
    const ids = rows.map(({ resource_id }) => resource_id);
    const found = await db.selectFrom("addon_instances").selectAll().where("id", "in", ids).execute();
    const instances = new Map(found.map((instance) => [instance.id, instance]));
    const sealed = Map.groupBy(
      await db.selectFrom("addon_secrets").selectAll().where("addon_instance_id", "in", ids).orderBy("path").execute(),
      ({ addon_instance_id }) => addon_instance_id,
    );
    return ({ resource_id }) => {
      const instance = instances.get(resource_id);
      if (!instance) return null;
      const definition = findDefinition(instance.definition_id);
      if (!definition) throw definitionGone();
      const secrets = (sealed.get(instance.id) ?? []).map(
        ({ id, path, sealed_value }) =>
          [path, vault.open(sealed_value, { table: "addon_secrets", row: id, column: "sealed_value" })] as const,
      );
      return addonBody(instance, definition, new Map(secrets));
    };
  },

  file: (key) => fileInProject(key, "addons", "AddonInstance"),

  rejected: (message) => ({ phase: "failed", reason: "RefusedByCluster" satisfies Reason, message, exports: {} }),

  lock: (tx, clusterId, ids) => lockRecords(tx, "addon_instances", clusterId, ids),

  afterReport: (before, generation, report, _, now) =>
    addonAfterReport(before, generation, report, findDefinition(before.definition_id) ?? null, now),
  afterLoss: missingAddon,
  isDeleting: ({ phase }) => phase === "deleting",

  async store(tx, outcomes, now) {
    const { gone, changed } = divideOutcomes(outcomes);
    const instances = changed.map(({ after }) => after);
    await saveReported(tx, instances, now);
    const ids = gone.map(({ id }) => id);
    if (ids.length > 0) await tx.deleteFrom("addon_instances").where("id", "in", ids).execute();
    return [
      // A change of pods alone is not announced.
      ...changed.flatMap(({ before, after }) => {
        const event = reportedEvent(after, now);
        return canonicalJson(event) === canonicalJson(reportedEvent(before, now)) ? [] : [event];
      }),
      ...gone.map((instance) => deletionOf(announcementOf({ ...instance, reported_at: now }, reportingAt(now), now))),
    ];
  },

  afterRemoval: (tx, clusterId, gone, now) =>
    deleteEmptyProjects(
      tx,
      clusterId,
      gone.map(({ project_id }) => project_id),
      now,
    ),

  async followGeneration(tx, raised) {
    await sql`
      update addon_instances set generation = given.generation
      from unnest(${raised.map(({ resource_id }) => resource_id)}::uuid[],
        ${raised.map(({ generation }) => generation)}::bigint[]) as given (id, generation)
      where addon_instances.id = given.id
    `.execute(tx);
  },
});

const reportedEvent = (instance: Instance, now: Date): Announcement => ({
  ...announcementOf({ ...instance, reported_at: now }, reportingAt(now), now),
  observed_generation: instance.observed_generation,
  exports: Object.keys(instance.exports).toSorted(),
});

/** Writes only the columns that a report can change. */
async function saveReported(tx: Tx, instances: readonly Instance[], now: Date): Promise<void> {
  if (instances.length === 0) return;
  const parts = instances.map(({ values: _values, ...part }) => part);
  await sql`
    update addon_instances set phase = seen.phase, phase_reason = seen.phase_reason, phase_message = seen.phase_message,
      phase_since = seen.phase_since, observed_generation = seen.observed_generation, exports = seen.exports,
      component_statuses = seen.component_statuses, drift_state = seen.drift_state, drift_summary = seen.drift_summary,
      drift_fields = seen.drift_fields, drift_detected_at = seen.drift_detected_at, drift_repairs = seen.drift_repairs, reported_at = ${now},
      updated_at = ${now}
    from jsonb_to_recordset(${JSON.stringify(parts)}::jsonb) as seen (
      id uuid, phase text, phase_reason text, phase_message text, phase_since timestamptz, observed_generation bigint,
      exports jsonb, component_statuses jsonb, drift_state text, drift_summary text, drift_fields jsonb,
      drift_detected_at timestamptz, drift_repairs jsonb
    )
    where addon_instances.id = seen.id
  `.execute(tx);
}
