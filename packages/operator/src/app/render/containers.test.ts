import { describe, expect, test } from "vitest";
import { CHECKSUM_ANNOTATION } from "./pod-template.ts";
import { objectsOf, podOf, problem, rendered, standing, workload } from "./rendered.fixture.ts";
import type { Publisher, Workload } from "./rendering.ts";

const INIT = { name: "migrate", image: "app:1", command: ["migrate"], args: ["up"] };
const SIDECAR = { name: "proxy", image: "envoy:1", resources: { limits: { memory: "64Mi" } } };
const BOTH: Workload = { init_containers: [INIT], sidecars: [SIDECAR] };
type Container = Readonly<Record<string, unknown>>;

const containersOf = (spec: Workload, around: Parameters<typeof podOf>[1] = {}) => {
  const pod = podOf(workload("web", spec), around).spec;
  return { further: (pod["initContainers"] ?? []) as Container[], main: pod.containers as readonly Container[] };
};
const database = (password: string): Publisher => ({
  keys: ["host", "password"],
  exports: {
    host: { value: "db.svc" },
    password: { secret: { name: "db-exports", key: "password" }, checksum: password },
  },
});

describe("further containers", () => {
  test.each(["deployment", "statefulset", "daemonset", "job", "cronjob"] as const)(
    "[RN37] in a %s init containers run first, and sidecars stay beside the single main container",
    (kind) => {
      const { further, main } = containersOf({ kind, schedule: "@daily", ...BOTH });
      expect(further).toMatchObject([
        { name: "migrate", image: "app:1", command: ["migrate"], args: ["up"] },
        { name: "proxy", image: "envoy:1", restartPolicy: "Always", resources: { limits: { memory: "64Mi" } } },
      ]);
      expect(further[0]).not.toHaveProperty("restartPolicy");
      expect(main.map(({ name }) => name)).toEqual(["web"]);
    },
  );

  test("[RN37] init containers and sidecars get what the component gets, and no further privileges", () => {
    const spec: Workload = {
      ...BOTH,
      env: [{ name: "LEVEL", value: "info" }],
      volumes: [{ name: "data", mount_path: "/data", size_gb: 1 }],
      files: [{ path: "/etc/app.yaml", content: "a" }],
      security_context: { run_as_user: 7 },
    };
    for (const podSecurity of ["baseline", "restricted"] as const) {
      const { further, main } = containersOf(spec, { podSecurity, secrets: { web: { KEY: "v" } } });
      for (const container of further) {
        for (const field of ["envFrom", "volumeMounts", "securityContext"]) {
          expect(container[field], field).toEqual(main[0]?.[field]);
          expect(container[field], field).toBeDefined();
        }
        expect(container).not.toHaveProperty("ports");
      }
    }
  });

  test("[RN37] variables of an init container or sidecar win over those of the component, and are taken literally", () => {
    const env = [
      { name: "PRICE", value: "$5 $(LEVEL) $$" },
      { name: "PASSWORD", value: "none" },
    ];
    const refs = [{ component: "db", key: "password", env: "PASSWORD" }];
    const web = workload("web", { sidecars: [{ ...SIDECAR, env }] }, { export_refs: refs });
    const instances = new Map([["db", database("x")]]);
    const pod = podOf(web, { instances }, standing("db")).spec;
    expect((pod["initContainers"] as Container[])[0]?.["env"]).toEqual([
      { name: "PASSWORD", value: "none" },
      { name: "PRICE", value: "$$5 $$(LEVEL) $$$$" },
    ]);
    expect(pod.containers[0]["env"]).toMatchObject([{ name: "PASSWORD", valueFrom: {} }]);
  });

  test("[RN37] an init container takes exports like the component, waits for them, and is replaced when a secret one changes", () => {
    const env = ["host", "password"].map((key) => ({ name: key, export_ref: { component: "db", key } }));
    const web = workload("web", { init_containers: [{ ...INIT, env }] });
    const around = (db: Publisher) => ({ instances: new Map([["db", db]]) });
    const pod = podOf(web, around(database("x")), standing("db"));
    expect((pod.spec["initContainers"] as Container[])[0]?.["env"]).toEqual([
      { name: "host", value: "db.svc" },
      { name: "password", valueFrom: { secretKeyRef: { name: "db-exports", key: "password" } } },
    ]);
    const other = podOf(web, around(database("y")), standing("db"));
    expect(other.metadata.annotations?.[CHECKSUM_ANNOTATION]).not.toBe(pod.metadata.annotations?.[CHECKSUM_ANNOTATION]);
    const app = rendered([web, standing("db")], around({ keys: ["host", "password"], exports: {} }));
    expect(app.components.find(({ name }) => name === "web")).toMatchObject({
      needs: ["db"],
      objects: [],
      waitingFor: ["db.host", "db.password"],
    });
    const stranger = [{ name: "A", export_ref: { component: "nobody", key: "url" } }];
    expect(problem([workload("web", { sidecars: [{ ...SIDECAR, env: stranger }] })])).toMatchObject({
      invalid: "UnknownComponent",
    });
  });

  test("[RN37] a sidecar requests some CPU where the workload autoscales, and an init container does not", () => {
    const { further } = containersOf({ ...BOTH, autoscale: { min: 1, max: 2, cpu_percent: 70 } });
    expect(further.map(({ resources }) => resources)).toEqual([
      undefined,
      { requests: { cpu: "100m" }, limits: { memory: "64Mi" } },
    ]);
  });

  test("[RN37] an init container whose requests are above its limits makes the app invalid", () => {
    const resources = { requests: { cpu: "2" }, limits: { cpu: "1" } };
    expect(problem([workload("web", { init_containers: [{ ...INIT, resources }] })])).toEqual({
      invalid: "InvalidResources",
      message: "Component web requests more cpu (2) in the container migrate than its limit (1).",
    });
  });

  test("[RN37] empty lists of init containers and sidecars leave every object as it was", () => {
    expect(objectsOf([workload("web", { init_containers: [], sidecars: [] })])).toEqual(objectsOf([workload("web")]));
  });
});
