import type { AppReport, ProjectReport } from "@binnacle/contract";
import type { Person, World } from "@binnacle/world";
import { bindRole, insertCluster, insertProject } from "../access/bindings.fixture.ts";
import { appReport, confirmHeld, listeningSink, registerSession, status } from "../hub/reports.fixture.ts";
import { someName } from "./app.fixture.ts";

/** A host that nobody else has in the test's world. */
export const someHost = () => `${someName()}.example.com`;

/** The address is a host, with a path where one is given. */
export const web = (address?: string) => {
  const [host, ...below] = (address ?? "").split("/");
  const ingress = { host, ...(below.length > 0 && { path: `/${below.join("/")}` }) };
  const ports = [{ name: "http", port: 80 }];
  return { name: "web", workload_spec: { image: "nginx:1.29", ports, ...(address && { ingress }) } };
};

export const path = (project: string, name: string, rest = "") =>
  `/apps/project-${project}/${name}${rest}?project_id=${project}`;

export const create = (
  by: Person,
  project: string,
  address?: string,
  name = someName(),
): ReturnType<Person["api"]["post"]> => by.api.post("/apps", { name, project_id: project, components: [web(address)] });

/** Changes the host of an app; null takes its ingress away. */
export const move = (
  by: Person,
  project: string,
  name: string,
  host: string | null,
): ReturnType<Person["api"]["post"]> => {
  const ingress = host === null ? null : { host };
  return by.api.patch(path(project, name), { components: [{ op: "patch", name: "web", workload_spec: { ingress } }] });
};

export const taken = (host: string) => ({
  status: 409,
  body: {
    detail: { code: "host_taken", message: `The host ${host} is used by another project on this cluster.`, host },
  },
});

export interface SharedCluster {
  readonly org: string;
  readonly cluster: string;
  readonly admin: Person;
  /** Each of the two projects has an editor who does not see the other. */
  readonly mine: string;
  readonly theirs: string;
  readonly editor: Person;
  readonly rival: Person;
  anotherProject(): Promise<string>;
  /** Sends a report of the cluster on the current generation of an app. */
  report(project: string, name: string, facts?: Partial<AppReport> | "gone"): Promise<void>;
  /** Sends a report of the cluster on a project that was made through the API. */
  reportProject(project: string, name: string, report: ProjectReport): Promise<void>;
}

export async function shareCluster(world: World): Promise<SharedCluster> {
  const { kysely: db } = world.database;
  const org = await world.org();
  const cluster = await insertCluster(db, org);
  const [fence, sink] = [await registerSession(world, cluster), await listeningSink(world)];
  const anotherProject = () => insertProject(db, org, cluster);
  const [mine, theirs] = [await anotherProject(), await anotherProject()];
  const [editor, rival] = [await world.person({ org }), await world.person({ org })];
  await bindRole(db, editor.id, "editor", { project: mine });
  await bindRole(db, rival.id, "editor", { project: theirs });
  const admin = await world.person({ org, role: "admin" });

  async function report(project: string, name: string, facts: Partial<AppReport> | "gone" = {}): Promise<void> {
    const app = db.selectFrom("apps").select(["id", "generation"]).where("project_id", "=", project);
    const { id, generation } = await app.where("name", "=", name).executeTakeFirstOrThrow();
    await confirmHeld(db, id);
    const said = facts === "gone" ? ({ state: "gone" } as const) : appReport(facts);
    const key = `app/project-${project}/${name}`;
    await sink.storeStatuses(fence, [status({ key, resource_id: id, generation, report: said })]);
  }
  async function reportProject(project: string, name: string, said: ProjectReport): Promise<void> {
    await confirmHeld(db, project);
    const row = { key: `project/${name}`, resource_id: project, generation: 1, report: said };
    await sink.storeStatuses(fence, [status(row)]);
  }
  return { org, cluster, admin, mine, theirs, editor, rival, anotherProject, report, reportProject };
}
