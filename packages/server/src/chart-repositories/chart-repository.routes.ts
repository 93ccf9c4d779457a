import {
  createChartRepository,
  deleteChartRepository,
  getChartRepository,
  listChartRepositories,
  updateChartRepository,
} from "@binnacle/contract";
import { at, wellFormed } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { ORG_SETTINGS_TOPIC } from "../hub/ports.ts";
import { newId } from "../id.adapter.ts";
import { orgPlace } from "../orgs/org-place.store.ts";
import type { Ports } from "../ports.ts";
import {
  deleteChartRepositoryRow,
  findChartRepository,
  insertChartRepository,
  listChartRepositoryRows,
  lockChartRepository,
  updateChartRepositoryRow,
} from "./chart-repository.store.ts";
import {
  auditedChartRepository,
  type ChartRepository,
  sealedAt,
  storedUrl,
  urlProblems,
  wireChartRepository,
} from "./chart-repository.ts";

const resourceOf = ({ id, name }: ChartRepository) => ({ type: "chart_repository", id, name });

export function chartRepositoryRoutes({
  db,
  bus,
  clock,
  vault,
  chartHosts,
}: Ports<"db" | "bus" | "clock" | "vault" | "chartHosts">): Route[] {
  /** The repositories are sent to the operators together with the other settings of the organization. */
  const announceSettings = (orgId: string) => () => bus.publish(ORG_SETTINGS_TOPIC, { org_id: orgId });

  return [
    route(listChartRepositories, at(orgPlace, "member"), async ({ org }) => {
      const repositories = await listChartRepositoryRows(db, org.id);
      return { data: repositories.map(wireChartRepository), total_count: repositories.length };
    }),

    route(
      createChartRepository,
      wellFormed(({ body }) => urlProblems(body, chartHosts), at(orgPlace, "admin")),
      async ({ org, body: { password, ...plain }, change }) =>
        change(async ({ db: tx, record, afterCommit }) => {
          const [id, now] = [newId(), clock()];
          const repository: ChartRepository = {
            id,
            org_id: org.id,
            ...plain,
            url: storedUrl(plain.url),
            sealed_password: vault.seal(password, sealedAt(id)),
            created_at: now,
            updated_at: now,
          };
          await insertChartRepository(tx, repository);
          const changes = auditedChartRepository({ ...plain, password });
          record({ action: "chart_repository.create", resource: resourceOf(repository), orgId: org.id, changes });
          afterCommit(announceSettings(org.id));
          return wireChartRepository(repository);
        }),
    ),

    route(getChartRepository, at(orgPlace, "member"), async ({ org, params }) =>
      wireChartRepository(await findChartRepository(db, org.id, params.repository_id)),
    ),

    route(
      updateChartRepository,
      wellFormed(({ body }) => urlProblems(body, chartHosts), at(orgPlace, "admin")),
      async ({ org, params, body, change }) =>
        change(async ({ db: tx, record, afterCommit }) => {
          const { password, ...plain } = body;
          const before = await lockChartRepository(tx, org.id, params.repository_id);
          const repository: ChartRepository = {
            ...before,
            ...plain,
            ...(plain.url === undefined ? {} : { url: storedUrl(plain.url) }),
            ...(password === undefined ? {} : { sealed_password: vault.seal(password, sealedAt(before.id)) }),
            updated_at: clock(),
          };
          await updateChartRepositoryRow(tx, repository);
          const changes = auditedChartRepository(body);
          record({
            action: "chart_repository.update",
            resource: resourceOf(repository),
            orgId: org.id,
            changes,
            before,
          });
          afterCommit(announceSettings(org.id));
          return wireChartRepository(repository);
        }),
    ),

    route(deleteChartRepository, at(orgPlace, "admin"), async ({ org, params, change }) =>
      change(async ({ db: tx, record, afterCommit }) => {
        const repository = await lockChartRepository(tx, org.id, params.repository_id);
        await deleteChartRepositoryRow(tx, repository.id);
        record({ action: "chart_repository.delete", resource: resourceOf(repository), orgId: org.id });
        afterCommit(announceSettings(org.id));
        return null;
      }),
    ),
  ];
}
