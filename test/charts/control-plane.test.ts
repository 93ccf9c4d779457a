import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { HELM, helmIn } from "../../packages/operator/src/chart/helm.fixture.ts";
import { CHART, type ChartObject, named, podOf, rendered, SCENARIOS, valuesOf } from "./control-plane.fixture.ts";

const ALERTS = fileURLToPath(new URL("alerts.yaml", import.meta.url));
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
if (!hasPromtool)
  process.stderr.write("SKIPPED: there is no promtool on PATH, so nothing checks the chart's alerts.\n");

describe.skipIf(HELM === null)("the control plane's chart", () => {
  let home: string;
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), "binnacle-helm-"));
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const imagesOf = async (scenario: string, set: readonly string[] = []) =>
    Object.fromEntries(
      (await rendered(home, scenario, set)).flatMap((object) => {
        const image = podOf(object)?.spec.containers[0]?.image;
        return image ? [[object.metadata.name, image]] : [];
      }),
    );

  test.each(SCENARIOS)("[IS2306] helm lint finds no fault in the chart with %s", async (scenario) => {
    expect(await helmIn(home)("lint", "--strict", CHART, ...valuesOf(scenario))).toContain("0 chart(s) failed");
  });

  test("[IS2308] the API runs from the image that carries the release's images, and nothing else does", async () => {
    const { version } = parse(readFileSync(`${CHART}/Chart.yaml`, "utf8")) as { version: string };
    expect(await imagesOf("minimal-values.yaml")).toEqual({
      "binnacle-api": `binnacle/registry:${version}`,
      "binnacle-hub": `binnacle/server:${version}`,
      "binnacle-worker": `binnacle/server:${version}`,
    });
  });

  test.each(["imageRegistry=registry.example.com", "images.existingClaim=images", "images.repository="])(
    "[IS2308] with %s the API runs from the server's image like all others",
    async (value) => {
      const images = await imagesOf("minimal-values.yaml", [value]);
      expect(new Set(Object.values(images))).toEqual(new Set([images["binnacle-hub"]]));
      expect(images["binnacle-hub"]).toContain("binnacle/server:");
    },
  );

  test("[IS2308] an image that is pinned by its digest takes that of the API's image too", async () => {
    expect(await imagesOf("backup-s3-values.yaml")).toEqual({
      "binnacle-api": `registry.example.com/binnacle/registry@sha256:${"b".repeat(64)}`,
      "binnacle-hub": `registry.example.com/binnacle/server@sha256:${"a".repeat(64)}`,
      "binnacle-worker": `registry.example.com/binnacle/server@sha256:${"a".repeat(64)}`,
      "binnacle-backup": `registry.example.com/binnacle/server@sha256:${"a".repeat(64)}`,
    });
    const pinned = rendered(home, "minimal-values.yaml", [`image.digest=sha256:${"a".repeat(64)}`]);
    await expect(pinned).rejects.toThrow("Set images.digest too");
  });

  test("[IS2309] a scheduled backup goes to S3 with the key of a Secret, which stands in no object", async () => {
    const job = named(await rendered(home, "backup-s3-values.yaml"), "CronJob", "binnacle-backup");
    expect(job.spec).toMatchObject({ schedule: "@daily", concurrencyPolicy: "Forbid" });
    const [container] = podOf(job)?.spec.containers ?? [];
    expect(container?.args).toEqual(["backup", "s3://backups/binnacle/binnacle-{time}.gz"]);
    const secret = { secretKeyRef: { name: "backups", key: "AWS_SECRET_ACCESS_KEY" } };
    expect(container?.env).toEqual(
      expect.arrayContaining([
        { name: "AWS_ENDPOINT_URL_S3", value: "https://minio.example.com" },
        { name: "AWS_SECRET_ACCESS_KEY", valueFrom: secret },
      ]),
    );
  });

  test("[IS2309] a scheduled backup goes to a volume, of which the newest files stay", async () => {
    const pod = podOf(named(await rendered(home, "full-values.yaml"), "CronJob", "binnacle-backup"));
    expect(pod?.spec.containers[0]?.args).toEqual(["backup", "/backups/binnacle-{time}.gz", "--keep", "7"]);
    expect(pod?.spec.volumes).toContainEqual({
      name: "backups",
      persistentVolumeClaim: { claimName: "binnacle-backups" },
    });
  });

  test.each([
    ["neither a bucket nor a claim", []],
    ["both", ["backup.existingClaim=claim", "backup.s3.url=s3://bucket", "backup.s3.existingSecret=secret"]],
    ["a bucket without the Secret of its key", ["backup.s3.url=s3://bucket"]],
    ["an invalid schedule", ["backup.existingClaim=claim", "backup.schedule=nightly"]],
  ])("[IS2309] a scheduled backup with %s is refused", async (_, set) => {
    const values = ["backup.enabled=true", ...set];
    await expect(rendered(home, "minimal-values.yaml", values)).rejects.toThrow("backup");
  });

  const restoreJob = (objects: readonly ChartObject[]) => {
    const jobs = objects.filter(({ kind }) => kind === "Job");
    expect(jobs).toHaveLength(1);
    const [{ metadata } = { metadata: { name: "" } }] = jobs;
    return { name: metadata.name, container: jobs.map(podOf)[0]?.spec.containers[0] };
  };

  test("[IS2320] a restore from a volume runs as a Job while there is no pod of a server and no backup", async () => {
    const objects = await rendered(home, "restore-values.yaml");
    const { name, container } = restoreJob(objects);
    expect(name).toMatch(/^binnacle-restore-[0-9a-f]{8}$/);
    expect(container?.args).toEqual(["restore", "/backups/binnacle-20260102T030405Z.gz"]);
    const replicas = objects.filter(({ kind }) => kind === "Deployment").map(({ spec }) => spec?.replicas);
    expect(replicas).toEqual([0, 0, 0]);
    expect(objects.filter(({ kind }) => kind === "HorizontalPodAutoscaler")).toEqual([]);
    expect(named(objects, "CronJob", "binnacle-backup").spec).toMatchObject({ suspend: true });
    const other = await rendered(home, "restore-values.yaml", ["restore.from=binnacle-20260103T030405Z.gz"]);
    expect(restoreJob(other).name).not.toBe(name);
  });

  test("[IS2320] a restore from S3 has the variables of the scheduled backup, and after it the servers are back", async () => {
    const from = "s3://backups/binnacle/binnacle-20260102T030405Z.gz";
    const objects = await rendered(home, "backup-s3-values.yaml", [`restore.from=${from}`]);
    const { container } = restoreJob(objects);
    const [scheduled] = podOf(named(objects, "CronJob", "binnacle-backup"))?.spec.containers ?? [];
    expect(container).toEqual({ ...scheduled, name: "restore", args: ["restore", from] });
    const afterwards = await rendered(home, "backup-s3-values.yaml", ["restore.from="]);
    expect(afterwards.filter(({ kind }) => kind === "Job")).toEqual([]);
    expect(named(afterwards, "Deployment", "binnacle-api").spec?.replicas).toBe(2);
    expect(named(afterwards, "CronJob", "binnacle-backup").spec).not.toHaveProperty("suspend");
  });

  test.each([
    ["s3://backups/one.gz", "backup.s3.existingSecret"],
    ["one.gz", "backup.existingClaim"],
    ["/backups/one.gz", "restore"],
    ["s3://backups", "restore"],
  ])("[IS2320] a restore from %s without what it needs is refused with %s", async (from, missing) => {
    await expect(rendered(home, "minimal-values.yaml", [`restore.from=${from}`])).rejects.toThrow(missing);
  });

  test.skipIf(!hasPromtool)(
    "[IS2310] promtool takes the alerts of the chart, and each fires when it should",
    async () => {
      const { spec } = named(await rendered(home, "full-values.yaml"), "PrometheusRule", "binnacle");
      writeFileSync(join(home, "rules.yaml"), stringify(spec));
      copyFileSync(ALERTS, join(home, "alerts.yaml"));
      const promtool = (...args: string[]) =>
        execFileSync("promtool", args, { cwd: home, encoding: "utf8", stdio: "pipe" });
      expect(promtool("check", "rules", "rules.yaml")).toContain("SUCCESS");
      expect(promtool("test", "rules", "alerts.yaml")).toContain("SUCCESS");
      const tested = [...readFileSync(ALERTS, "utf8").matchAll(/alertname: (\w+)/g)].map(([, name]) => name);
      const alerts = (spec as unknown as { groups: { rules: { alert: string }[] }[] }).groups.flatMap(
        ({ rules }) => rules,
      );
      expect(alerts.map(({ alert }) => alert).filter((alert) => !tested.includes(alert))).toEqual([]);
    },
  );
});

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

test.skipIf(!hasPromtool)("[IS2332] promtool takes every query of the dashboard, and each panel has one", () => {
  const { panels }: { panels: Panel[] } = JSON.parse(readFileSync(`${CHART}/files/dashboards/binnacle.json`, "utf8"));
  expect(panels.filter(({ targets }) => targets.length === 0).map(({ title }) => title)).toEqual([]);
  const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  // Grafana puts a duration there.
  const rulesOf = (exprs: readonly string[]) =>
    exprs.map((expr, at) => ({ record: `query_${at}`, expr: expr.replaceAll("$__rate_interval", "5m") }));
  const home = mkdtempSync(join(tmpdir(), "binnacle-dashboard-"));
  const check = (exprs: readonly string[]) => {
    writeFileSync(join(home, "rules.yaml"), stringify({ groups: [{ name: "dashboard", rules: rulesOf(exprs) }] }));
    return spawnSync("promtool", ["check", "rules", join(home, "rules.yaml")], { encoding: "utf8" });
  };
  try {
    expect(queries.length).toBeGreaterThan(10);
    expect(check(queries)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(`${queries.length} rules found`),
    });
    expect(check([`${queries[0]})`]).status).toBe(1);
  } finally {
    rmSync(home, { recursive: true });
  }
});
