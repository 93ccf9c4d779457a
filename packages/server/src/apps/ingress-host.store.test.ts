import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertCluster, insertProject } from "../access/bindings.fixture.ts";
import { runTogether } from "../database/prepared.adapter.ts";
import { inTransaction, type Queries } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";
import { firstDeployment, someApp, workload } from "./app.fixture.ts";
import { insertionOf } from "./app.store.ts";
import type { AppWithSecretPaths } from "./app.ts";
import { claimHosts, releaseHosts } from "./ingress-host.store.ts";

let fresh: FreshDatabase;
let db: Queries;
let place: { readonly org_id: string; readonly cluster_id: string };
let projects: readonly string[];

beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.database.kysely;
  const [org_id, times] = [newId(), { created_at: new Date(), updated_at: new Date() }];
  await db
    .insertInto("orgs")
    .values({ id: org_id, name: "org", slug: "org", settings: "{}", ...times })
    .execute();
  place = { org_id, cluster_id: await insertCluster(db, org_id) };
  projects = await Promise.all([1, 2, 3].map(() => insertProject(db, org_id, place.cluster_id)));
});
afterAll(() => fresh?.drop());

const componentsAt = (host: string) => [workload("web", { workload_spec: { ingress: { host } } })];

/** The hosts that an app declares, and those that it may still serve. */
interface Model {
  readonly app: AppWithSecretPaths;
  readonly declared: string;
  readonly held: ReadonlySet<string>;
}

const HOSTS = ["shop", "a.shop", "b.a.shop", "*.shop", "*.a.shop", "b.shop"];
const STEP = fc.record({
  act: fc.constantFrom("create", "create", "move", "confirm", "delete"),
  which: fc.nat(100),
  host: fc.constantFrom(...HOSTS),
});

const isBelow = (host: string, wildcard: string) => wildcard.startsWith("*.") && host.endsWith(wildcard.slice(1));
const overlap = (one: string, other: string) => one === other || isBelow(one, other) || isBelow(other, one);

test("[AP64] no two projects hold hosts that overlap, and a host that nobody else holds is given", async () => {
  const attempt = (work: Parameters<typeof inTransaction<void>>[1]): Promise<boolean> =>
    inTransaction(db, work).then(
      () => true,
      (error: unknown) => {
        expect(error).toMatchObject({ detail: { code: "host_taken" } });
        return false;
      },
    );
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 4, maxLength: 14 }), async (steps) => {
      const models: Model[] = [];
      const isFree = (project: string, host: string) =>
        models
          .filter(({ app }) => app.project_id !== project)
          .every(({ held }) => [...held].every((one) => !overlap(one, host)));
      for (const { act, which, host } of steps) {
        const at = which % Math.max(models.length, 1);
        const model = models[at];
        if (act === "create" || !model) {
          const project_id = projects[which % projects.length] ?? "";
          const id = newId();
          const app = someApp({ ...place, id, name: id, project_id, components: componentsAt(host) });
          const isGiven = await attempt(async (tx) => {
            await runTogether(tx, [insertionOf(app, firstDeployment(app))]);
            await claimHosts(tx, app, [host]);
          });
          expect([host, isGiven]).toEqual([host, isFree(project_id, host)]);
          if (isGiven) models.push({ app, declared: host, held: new Set([host]) });
        } else if (act === "move") {
          const isGiven = await attempt((tx) => claimHosts(tx, model.app, [host]));
          expect([host, isGiven]).toEqual([host, isFree(model.app.project_id, host)]);
          if (isGiven) models[at] = { ...model, declared: host, held: new Set([...model.held, host]) };
        } else if (act === "confirm") {
          const { app, declared } = model;
          await attempt((tx) => releaseHosts(tx, [{ id: app.id, components: componentsAt(declared) }]));
          models[at] = { ...model, held: new Set([declared]) };
        } else {
          await db.deleteFrom("apps").where("id", "=", model.app.id).execute();
          models.splice(at, 1);
        }
      }
      await db.deleteFrom("apps").execute();
    }),
    { numRuns: 20 },
  );
});
