import { getClusterBundle, recordClusterBundle, reportInstallEvent } from "@binnacle/contract";
import type { Cluster } from "../clusters/cluster.ts";
import { clusterPlace } from "../clusters/cluster-place.store.ts";
import { statusAnnouncement } from "../clusters/status.ts";
import { invalid } from "../fault.ts";
import { at, wellFormed } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { lockClusterRow, readRecord, saveInstallFacts } from "./install.store.ts";
import {
  afterEvent,
  afterRecord,
  catalogProblems,
  componentProblems,
  entryOf,
  manifestsFor,
  stageEvent,
  textProblems,
  timeProblems,
  wireBundleRecord,
} from "./install.ts";

const resourceOf = ({ id, name }: Cluster) => ({ type: "cluster", id, name });

/** Expects `bundles` oldest first. */
export function installRoutes({ db, clock, catalog: { bundles } }: Ports<"db" | "clock" | "catalog">): Route[] {
  return [
    route(
      reportInstallEvent,
      wellFormed(({ body }) => [...textProblems(body), ...timeProblems(body, clock())], at(clusterPlace, "editor")),
      async ({ cluster, body, change }) =>
        change(async ({ db: tx, record, announce }) => {
          const current = { ...cluster, ...(await lockClusterRow(tx, cluster.id)) };
          const problems = componentProblems(body, manifestsFor(bundles, current.bundle_version));
          if (problems.length > 0) throw invalid(problems);
          const now = clock();
          const entry = entryOf(body, now);
          const facts = afterEvent(current.install_journal, entry);
          await saveInstallFacts(tx, cluster.id, facts, now);
          const { stage, status, component, reason_code } = entry;
          record({
            action: "cluster.report_stage",
            resource: resourceOf(current),
            orgId: cluster.org_id,
            changes: { stage, status, component, reason_code },
          });
          announce(stageEvent(current, entry));
          const moved = statusAnnouncement(current, { ...current, ...facts }, now);
          if (moved) announce(moved);
          return entry;
        }),
    ),

    route(getClusterBundle, at(clusterPlace, "member"), async ({ cluster }) =>
      wireBundleRecord(await readRecord(db, cluster.id)),
    ),

    route(
      recordClusterBundle,
      wellFormed(({ body }) => catalogProblems(body, bundles, clock()), at(clusterPlace, "editor")),
      async ({ cluster, body, change }) =>
        change(async ({ db: tx, record }) => {
          const { install_journal } = await lockClusterRow(tx, cluster.id);
          const now = clock();
          const facts = afterRecord(install_journal, body, now);
          await saveInstallFacts(tx, cluster.id, facts, now);
          const { bundle_version, profiles, ha_tier } = facts;
          record({
            action: "cluster.record_bundle",
            resource: resourceOf(cluster),
            orgId: cluster.org_id,
            changes: { bundle_version, profiles, ha_tier },
          });
          return wireBundleRecord(facts);
        }),
    ),
  ];
}
