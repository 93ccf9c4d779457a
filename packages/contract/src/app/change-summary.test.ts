import fc from "fast-check";
import { expect, test } from "vitest";
import { boundedChanges, MOST_FIELD_CHANGES } from "../field-change.ts";
import { LONGEST_SUMMARY } from "./change-sentence.ts";
import { appChanges, changeSummary, EMPTY_REVISION, type Revision } from "./change-summary.ts";
import type { ComponentSpec, WorkloadSpec } from "./component.ts";

const workload = (spec: WorkloadSpec, name = "web"): ComponentSpec => ({
  name,
  type: "workload",
  workload_spec: { image: "example.com/web:1.5.0", replicas: 3, ...spec },
});
const chart = (values: object, rest: object = {}): ComponentSpec => ({
  name: "db",
  type: "chart",
  chart_spec: { repo: "https://charts.example.com", name: "db", version: "1.0.0", values: { ...values }, ...rest },
});
const revision = (components: ComponentSpec[], rest: Partial<Revision> = {}): Revision => ({
  ...EMPTY_REVISION,
  components,
  ...rest,
});
const summary = (before: Revision, after: Revision, touched?: string[]) =>
  changeSummary("update", appChanges(before, after, touched));

const digest = (digit: string) => `example.com/web@sha256:${digit.repeat(64)}`;
const WORKLOADS: readonly (readonly [string, WorkloadSpec, WorkloadSpec])[] = [
  ["web: image 1.5.0 → 1.5.1", {}, { image: "example.com/web:1.5.1" }],
  ["web: image example.com/web:1.5.0 → example.com/shop:1.5.0", {}, { image: "example.com/shop:1.5.0" }],
  ["web: image sha256:aaaaaaaaaaaa → sha256:bbbbbbbbbbbb", { image: digest("a") }, { image: digest("b") }],
  ["web: image 2 → (none)", { image: "localhost:5000/web:2" }, { image: "localhost:5000/web" }],
  ["web: 3 → 4 replicas", {}, { replicas: 4 }],
  ["web: image 1.5.0 → 2, 3 → 1 replicas", {}, { image: "example.com/web:2", replicas: 1 }],
  [
    "web: env LOG_LEVEL info → debug",
    { env: [{ name: "LOG_LEVEL", value: "info" }] },
    { env: [{ name: "LOG_LEVEL", value: "debug" }] },
  ],
  ["web: env LOG_LEVEL=debug added", {}, { env: [{ name: "LOG_LEVEL", value: "debug" }] }],
  ["web: env LOG_LEVEL removed", { env: [{ name: "LOG_LEVEL", value: "info" }] }, {}],
  [
    'web: env LOG_LEVEL info → ""',
    { env: [{ name: "LOG_LEVEL", value: "info" }] },
    { env: [{ name: "LOG_LEVEL", value: "" }] },
  ],
  [
    "web: env API_TOKEN changed",
    { env: [{ name: "API_TOKEN", value: "hunter1" }] },
    { env: [{ name: "API_TOKEN", value: "hunter2" }] },
  ],
  ["web: env DB added", {}, { env: [{ name: "DB", value: "postgres://app:hunter2@db/app" }] }],
  [
    "web: env DB changed",
    { env: [{ name: "DB", value: "host=db password=hunter2" }] },
    { env: [{ name: "DB", value: "host=db" }] },
  ],
  [
    "web: env DB local → db.url",
    { env: [{ name: "DB", value: "local" }] },
    { env: [{ name: "DB", export_ref: { component: "db", key: "url" } }] },
  ],
  ["web: 4 variables added", {}, { env: ["A", "B", "C", "D"].map((name) => ({ name, value: "1" })) }],
  ["web: port http 80 → 8080", { ports: [{ name: "http", port: 80 }] }, { ports: [{ name: "http", port: 8080 }] }],
  ["web: port dns 53/UDP added", {}, { ports: [{ name: "dns", port: 53, protocol: "UDP" }] }],
  [
    "web: memory limit 256Mi → 512Mi",
    { resources: { limits: { memory: "256Mi" } } },
    { resources: { limits: { memory: "512Mi" } } },
  ],
  ["web: cpu request 100m added", {}, { resources: { requests: { cpu: "100m" } } }],
  [
    "web: ingress host a.example.com → b.example.com",
    { ingress: { host: "a.example.com" } },
    { ingress: { host: "b.example.com" } },
  ],
  ["web: ingress a.example.com added", {}, { ingress: { host: "a.example.com", path: "/", tls: true } }],
  ["web: ingress removed", { ingress: { host: "a.example.com", path: "/", tls: true } }, {}],
  [
    "web: autoscale min 2 → 3",
    { autoscale: { min: 2, max: 5, cpu_percent: 70 } },
    { autoscale: { min: 3, max: 5, cpu_percent: 70 } },
  ],
  [
    "web: file /etc/a.yaml changed",
    { files: [{ path: "/etc/a.yaml", content: "hunter1" }] },
    { files: [{ path: "/etc/a.yaml", content: "hunter2" }] },
  ],
  [
    "web: file /etc/a.yaml changed",
    { files: [{ path: "/etc/a.yaml", content: "hunter1" }] },
    { files: [{ path: "/etc/a.yaml", secret: "A" }] },
  ],
  [
    "web: args added, command changed",
    { command: ["run", "--password=hunter1"] },
    { command: ["run"], args: ["--verbose"] },
  ],
  [
    "web: volume data.size_gb 10 → 20",
    { volumes: [{ name: "data", mount_path: "/d", size_gb: 10 }] },
    { volumes: [{ name: "data", mount_path: "/d", size_gb: 20 }] },
  ],
  [
    "web: sidecar proxy.image 1 → 2",
    { sidecars: [{ name: "proxy", image: "proxy:1" }] },
    { sidecars: [{ name: "proxy", image: "proxy:2" }] },
  ],
  ["web: label team a → b", { labels: { team: "a" } }, { labels: { team: "b" } }],
  ["web: kind deployment → statefulset", { kind: "deployment" }, { kind: "statefulset" }],
  ["web: schedule @daily → @hourly", { kind: "cronjob", schedule: "@daily" }, { kind: "cronjob", schedule: "@hourly" }],
  ["Nothing changed", {}, {}],
];

test.each(WORKLOADS)("[AP184] a change of a workload reads “%s”", (expected, before, after) => {
  expect(summary(revision([workload(before)]), revision([workload(after)]))).toBe(expected);
});

const A = workload({});
const REVISIONS: readonly (readonly [expected: string, before: Revision, after: Revision, touched?: string[]])[] = [
  ["api (example.com/web:1.5.0) added", revision([A]), revision([A, workload({}, "api")])],
  ["api (example.com/web:1.5.0) removed", revision([A, workload({}, "api")]), revision([A])],
  ["db (db 1.0.0) added, api (example.com/web:1.5.0) removed", revision([workload({}, "api")]), revision([chart({})])],
  ["db: chart version 1.0.0 → 1.1.0", revision([chart({})]), revision([chart({}, { version: "1.1.0" })])],
  [
    "db: value persistence.size 8Gi → 16Gi",
    revision([chart({ persistence: { size: "8Gi" } })]),
    revision([chart({ persistence: { size: "16Gi" } })]),
  ],
  [
    "db: value auth.password changed",
    revision([chart({ auth: { password: "hunter1" } })]),
    revision([chart({ auth: { password: "hunter2" } })]),
  ],
  [
    "db: value admin.name changed",
    revision([chart({ admin: { name: "hunter1" } }, { secret_values: ["admin"] })]),
    revision([chart({ admin: { name: "hunter2" } }, { secret_values: ["admin"] })]),
  ],
  [
    "db: chart secret_values added, value admin.name removed",
    revision([chart({ admin: { name: "hunter1" } })]),
    revision([chart({}, { secret_values: ["admin.name"] })]),
  ],
  ["description changed", revision([A], { description: "Old." }), revision([A], { description: "New." })],
  [
    "web: secret API_KEY changed",
    revision([A], { secrets: ["web/API_KEY"] }),
    revision([A], { secrets: ["web/API_KEY"] }),
    ["web/API_KEY"],
  ],
  ["web: secret API_KEY added", revision([A]), revision([A], { secrets: ["web/API_KEY"] }), ["web/API_KEY"]],
  ["2 secrets removed", revision([A], { secrets: ["web/A", "web/B"] }), revision([A]), ["web/"]],
  [
    "web: image 1.5.0 → 1.5.1; api: 3 → 4 replicas; 2 secrets changed",
    revision([A, workload({}, "api")], { secrets: ["web/A", "api/B"] }),
    revision([workload({ image: "example.com/web:1.5.1" }), workload({ replicas: 4 }, "api")], {
      secrets: ["web/A", "api/B"],
    }),
    ["web/A", "api/B"],
  ],
  ["web: reference to cache added", revision([A]), revision([{ ...A, export_refs: [{ component: "cache" }] }])],
];

test.each(REVISIONS.map(([expected, ...rest]) => [expected, rest] as const))(
  "[AP184] a change of an app reads “%s”",
  (expected, [before, after, touched]) => {
    expect(summary(before, after, touched)).toBe(expected);
  },
);

test("[AP184] the summary of an operation without a changed specification names it, and a rollback says where to", () => {
  const two = revision([A, chart({})]);
  expect(changeSummary("create", appChanges(EMPTY_REVISION, two))).toBe(
    "Created: web (example.com/web:1.5.0), db (db 1.0.0)",
  );
  expect(changeSummary("create", [])).toBe("Created");
  expect(changeSummary("pause", appChanges(two, { ...two, paused: true }))).toBe("Paused");
  expect(changeSummary("resume", appChanges({ ...two, paused: true }, two))).toBe("Resumed");
  expect(changeSummary("redeploy", [])).toBe("Redeployed");
  expect(changeSummary("redeploy", [], { isForced: true })).toBe("Redeployed by force");
  expect(changeSummary("rollback", [], { restored: 3 })).toBe("Rolled back to revision 3");
  const back = appChanges(revision([A]), revision([workload({ replicas: 1 })], { paused: true }));
  expect(changeSummary("rollback", back, { restored: 3 })).toBe(
    "Rolled back to revision 3: paused; web: 3 → 1 replicas",
  );
});

test("[AP184] line breaks, control characters and marks of writing direction do not get into the sentence", () => {
  const env = [{ name: "GREETING", value: "a\nb\u001b[31mc\u202ed" }];
  expect(summary(revision([A]), revision([workload({ env })]))).toBe("web: env GREETING=a b [31mc d added");
});

test("[AP185] changes that do not fit into 200 characters are counted", () => {
  const names = Array.from({ length: 30 }, (_, index) => `component-${index}`);
  const before = revision(names.map((name) => workload({}, name)));
  const after = revision(names.map((name) => workload({ replicas: 4 }, name)));
  const text = summary(before, after);
  expect(text.length).toBeLessThanOrEqual(LONGEST_SUMMARY);
  expect(text).toMatch(/^component-0: 3 → 4 replicas; component-1: .* and 24 more$/);
});

test("[AP185] of 500 changed variables with long values at most fifty are listed, each cut, in a few kilobytes", () => {
  const env = (value: string) =>
    Array.from({ length: 500 }, (_, index) => ({ name: `V${index}`, value: `${value} ${"long word ".repeat(300)}` }));
  const changes = appChanges(revision([workload({ env: env("old") })]), revision([workload({ env: env("new") })]));
  expect(changes).toHaveLength(500);
  expect(changeSummary("update", changes)).toBe("web: 500 variables changed");
  const kept = boundedChanges(changes);
  expect(kept.length).toBeLessThanOrEqual(MOST_FIELD_CHANGES);
  expect(JSON.stringify(kept).length).toBeLessThan(9_000);
  expect(String(kept[0]?.after)).toHaveLength(200);
});

test("[AP185] a value is not cut within a character", () => {
  const env = [{ name: "A", value: `${"a b ".repeat(49)}ab 😀 more` }];
  const [change] = appChanges(revision([A]), revision([workload({ env })]));
  expect(String(change?.after).isWellFormed()).toBe(true);
});

const SECRET = "hunter2-the-secret";
const text = fc.constantFrom("1", "info", "a much longer text ".repeat(20), "é😀");
const variables = fc.uniqueArray(
  fc.oneof(
    fc.record({ name: fc.constantFrom("A", "B", "LOG"), value: text }),
    fc.record({ name: fc.constantFrom("API_KEY", "PASSWORD"), value: fc.constantFrom(SECRET, `${SECRET}!`) }),
  ),
  { selector: ({ name }) => name, maxLength: 4 },
);
const files = fc.uniqueArray(
  fc.record({ path: fc.constantFrom("/etc/a", "/etc/b"), content: fc.constantFrom(SECRET, `${SECRET}!`) }),
  { selector: ({ path }) => path },
);
const workloads = fc
  .record({
    name: fc.constantFrom("web", "api"),
    image: fc.constantFrom("a:1", "a:2", "b:1"),
    replicas: fc.nat(3),
    env: variables,
    files,
  })
  .map(({ name, ...spec }) => workload(spec, name));
const charts = fc
  .record({ size: text, hidden: fc.constantFrom(SECRET, `${SECRET}!`), isSecret: fc.boolean() })
  .map(({ size, hidden, isSecret }) =>
    chart({ size, admin: { name: isSecret ? "" : "ada", pass: hidden }, hidden }, { secret_values: ["hidden"] }),
  );
const revisions = fc.record({
  components: fc.uniqueArray(fc.oneof(workloads, charts), { selector: ({ name }) => name, maxLength: 3 }),
  paused: fc.boolean(),
  description: fc.option(text),
  secrets: fc.uniqueArray(fc.constantFrom("web/A", "web/B", "db/hidden")),
});
const touches = fc.uniqueArray(fc.constantFrom("web/A", "db/hidden"));

test("[AP184] equal revisions have no changes, and the opposite direction has the same changes reversed", () => {
  const swapped = { added: "removed", removed: "added", changed: "changed" } as const;
  const sorted = (changes: ReturnType<typeof appChanges>) =>
    changes.toSorted((a, b) => (`${a.component}/${a.field}` < `${b.component}/${b.field}` ? -1 : 1));
  fc.assert(
    fc.property(revisions, revisions, touches, (one, other, touched) => {
      expect(appChanges(one, structuredClone(one))).toEqual([]);
      const there = appChanges(one, other, touched);
      expect(appChanges(structuredClone(one), structuredClone(other), touched)).toEqual(there);
      const back = appChanges(other, one, touched).map(({ component, field, change, before, after }) => ({
        ...{ component, field, change: swapped[change], before: after, after: before },
      }));
      expect(sorted(back)).toEqual(sorted(there));
    }),
  );
});

test("[AP186] no secret and no content of a file gets into the changes or the sentence, which is never too long", () => {
  fc.assert(
    fc.property(revisions, revisions, touches, (one, other, touched) => {
      const changes = appChanges(one, other, touched);
      const sentences = (["update", "create", "rollback"] as const).map((operation) =>
        changeSummary(operation, changes),
      );
      expect(JSON.stringify([changes, sentences])).not.toContain(SECRET);
      for (const sentence of sentences) expect(sentence.length).toBeLessThanOrEqual(LONGEST_SUMMARY);
      if (changes.length > 0) expect(sentences[0]).not.toBe("Nothing changed");
    }),
  );
});
