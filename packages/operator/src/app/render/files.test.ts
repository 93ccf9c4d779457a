import { describe, expect, test } from "vitest";
import { CHECKSUM_ANNOTATION } from "./pod-template.ts";
import { idsOf, objectAt, objectsOf, podOf, problem, workload } from "./rendered.fixture.ts";
import type { Workload } from "./rendering.ts";

const FILES: NonNullable<Workload["files"]> = [
  { path: "/etc/app/config.yaml", content: "log: $(LEVEL)\n" },
  { path: "/etc/app/empty", content: "" },
  { path: "/run/token", secret: "TOKEN" },
];
const SECRETS = { secrets: { web: { TOKEN: "hunter2", OTHER: "x" } } };
const web = (files = FILES, spec: Workload = {}) => workload("web", { ...spec, files });

interface Mount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath: string;
  readonly readOnly: boolean;
}

describe("the files of a component", () => {
  test.each(["deployment", "statefulset", "daemonset", "job", "cronjob"] as const)(
    "[RN36] the files of a component are mounted one by one from a ConfigMap and from its Secret, for a %s",
    (kind) => {
      const spec: Workload = { kind, schedule: "@daily" };
      const objects = objectsOf([web(FILES, spec)], SECRETS);
      const data = objectAt(objects, "ConfigMap/shop-web-files")["data"] as Record<string, string>;
      expect(Object.values(data).sort()).toEqual(["", "log: $(LEVEL)\n"]);
      const pod = podOf(web(FILES, spec), SECRETS).spec;
      const mounts = pod.containers[0]["volumeMounts"] as Mount[];
      expect(mounts.map(({ mountPath, readOnly }) => [mountPath, readOnly])).toEqual(
        FILES.map(({ path }) => [path, true]),
      );
      const [config, , token] = mounts.map(({ subPath }) => subPath);
      expect(data[config ?? ""]).toBe("log: $(LEVEL)\n");
      expect(pod["volumes"]).toMatchObject([
        {
          name: mounts[0]?.name,
          projected: {
            sources: [
              { configMap: { name: "shop-web-files", items: [{ key: config, path: config }, {}] } },
              { secret: { name: "shop-web-secrets", items: [{ key: "TOKEN", path: token }] } },
            ],
          },
        },
      ]);
    },
  );

  test("[RN36] pods are replaced when the content of a file or of a file's secret changes, and no object shows the secret", () => {
    const checksum = (files: typeof FILES, secrets = SECRETS) =>
      podOf(web(files), secrets).metadata.annotations?.[CHECKSUM_ANNOTATION];
    const [first, ...rest] = FILES;
    const other = [{ path: first?.path ?? "", content: "log: debug\n" }, ...rest];
    const sums = [
      checksum(FILES),
      checksum(other),
      checksum(FILES, { secrets: { web: { TOKEN: "hunter3", OTHER: "x" } } }),
    ];
    expect(new Set(sums).size).toBe(3);
    const shown = objectsOf([web()], SECRETS).filter(({ kind }) => kind !== "Secret");
    expect(JSON.stringify(shown)).not.toContain("hunter2");
  });

  test("[RN36] a component without files is rendered as it was before", () => {
    expect(idsOf(objectsOf([web([])]))).toEqual(["Deployment/shop-web"]);
    expect(objectsOf([web([])])).toEqual(objectsOf([workload("web")]));
    expect(idsOf(objectsOf([web([{ path: "/a", secret: "TOKEN" }])], SECRETS))).not.toContain(
      "ConfigMap/shop-web-files",
    );
  });

  test("[RN36] a file that names a secret that is not set makes the app invalid", () => {
    expect(problem([web()], { secrets: { web: { OTHER: "x" } } })).toEqual({
      invalid: "MissingSecret",
      message:
        "Component web has no secret TOKEN, which workload_spec.files has at /run/token: set it, or remove the file.",
    });
    expect(problem([web([{ path: "/a", secret: "toString" }])])).toMatchObject({ invalid: "MissingSecret" });
  });
});
