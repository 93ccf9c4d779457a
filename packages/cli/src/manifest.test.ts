import { renameExportRefs as renameHere } from "@binnacle/client";
import { mergePatch, renameInComponents } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseAll } from "./command.ts";
import { diffLines, exported, mergePatchBetween, planOf, readManifest, starter } from "./manifest.ts";
import type { Row } from "./output.ts";

const FILE = `name: front
project: shop
components:
  - name: web
    workload_spec:
      image: nginx:1.29
      ports:
        - { name: http, port: 80 }
`;
const NO_OPTIONS = { updatesSecrets: false, confirmations: {} };
const appIn = (text: string, env: Record<string, string> | null = null) => {
  const [app] = readManifest("binnacle.yaml", text, env);
  if (!app) throw new Error("no app");
  return app;
};
const web = (spec: object = {}, more: object = {}) => ({
  name: "web",
  type: "workload",
  workload_spec: {
    kind: "deployment",
    image: "nginx:1.29",
    replicas: 3,
    ports: [{ name: "http", port: 80, protocol: "TCP" }],
    ...spec,
  },
  secrets: [],
  ready_replicas: 3,
  ...more,
});
const running = (...components: Row[]): Row => ({ name: "front", description: null, components });

describe("a file", () => {
  test("[BC103] may write exportRef for export_ref, and is compared as the API stores it", () => {
    const file = `name: front
components:
  - name: web
    exportRefs: [{ component: db }]
    workload_spec: { env: [{ name: URL, exportRef: { component: db, key: url } }] }
`;
    const [app] = readManifest("f.yaml", file, null);
    expect(app?.components).toEqual([
      {
        name: "web",
        export_refs: [{ component: "db" }],
        workload_spec: { env: [{ name: "URL", export_ref: { component: "db", key: "url" } }] },
      },
    ]);
    const body = { components: [{ name: "web", exportRefs: [], workload_spec: { env: [{ exportRef: 1 }] } }] };
    const [here, there] = [structuredClone(body), structuredClone(body)];
    for (const component of here.components) renameHere(component);
    renameInComponents(there);
    expect(here).toEqual(there);
  });

  test("[BC17] may hold several apps", () => {
    const apps = readManifest("f.yaml", `${FILE}---\nname: back\ncomponents: []\n`, null);
    expect(apps.map(({ name, project }) => [name, project])).toEqual([
      ["front", "shop"],
      ["back", null],
    ]);
  });

  test.each([
    ["name: front\ncomponents: [\n", /^f\.yaml:\d+: /],
    ["- a\n", "f.yaml:1: An app is a mapping with name and components."],
    ["components: []\n", "f.yaml:1: name: An app needs a name."],
    [
      "name: a\ncomponets: []\n",
      "f.yaml:2: componets: There is no such field; name, project, description and components are known.",
    ],
    ["name: a\ncomponents:\n  - image: x\n", "f.yaml:3: components.0: A component is a mapping with a name."],
    [`${FILE}---\n${FILE}`, "f.yaml holds the app shop/front twice."],
    ["# nothing\n", "f.yaml holds no app."],
  ])("[BC14] that is wrong is refused with its line: %j", (text, message) => {
    expect(() => readManifest("f.yaml", text, null)).toThrow(message);
  });

  test("[BC20] takes variables only where that is asked for, and as values rather than as YAML", () => {
    const text = `name: front\ncomponents:\n  - name: web\n    workload_spec:\n      image: nginx:\${TAG}\n      replicas: \${COUNT}\n      env: [{ name: A, value: "\${COUNT}" }, { name: B, value: "$\${TAG}" }]\n    exports: { url: "http://\${host}" }\n`;
    const env = { TAG: '1"\n- name: evil', COUNT: "3" };
    expect(JSON.stringify(appIn(text).components)).toContain(`nginx:\${TAG}`);
    expect(appIn(text, env).components).toEqual([
      {
        name: "web",
        workload_spec: {
          image: 'nginx:1"\n- name: evil',
          replicas: 3,
          env: [
            { name: "A", value: "3" },
            { name: "B", value: `\${TAG}` },
          ],
        },
        exports: { url: `http://\${host}` },
      },
    ]);
    expect(() => appIn(text, { COUNT: "3" })).toThrow("binnacle.yaml:5: The variable TAG is not set.");
  });
});

describe("a plan", () => {
  test("[BC17] creates what is not there", () => {
    const { action, body } = planOf(appIn(FILE), null, NO_OPTIONS);
    expect({ action, body }).toMatchObject({
      action: "create",
      body: { name: "front", components: [{ name: "web" }] },
    });
  });

  test("[BC17] takes neither defaults nor a count that the file leaves out for a difference", () => {
    expect(planOf(appIn(FILE), running(web()), NO_OPTIONS)).toMatchObject({ action: "none", body: {} });
  });

  test("[BC17] adds, removes and patches what differs, and nothing else", () => {
    const text = `${FILE.replace("1.29", "1.30")}  - name: worker\n    workload_spec: { image: worker:1 }\n`;
    const { action, body, before, after } = planOf(appIn(text), running(web(), web({}, { name: "old" })), NO_OPTIONS);
    expect(action).toBe("update");
    expect(body).toEqual({
      components: [
        { op: "remove", name: "old" },
        { op: "patch", name: "web", workload_spec: { image: "nginx:1.30" } },
        { op: "add", name: "worker", workload_spec: { image: "worker:1" } },
      ],
    });
    const lines = diffLines(before, after).map(({ text: line }) => line);
    expect(lines).toEqual(
      expect.arrayContaining([
        "-       image: nginx:1.29",
        "+       image: nginx:1.30",
        "-   - name: old",
        "+   - name: worker",
      ]),
    );
    expect(lines).not.toContain("-       kind: deployment");
  });

  test("[BC14] finds a field of its request in the file", () => {
    const text = `${FILE}  - name: worker\n    workload_spec: { image: "" }\n`;
    const { positionOf } = planOf(appIn(text), running(web(), web({}, { name: "old" })), NO_OPTIONS);
    // The removal of `old` is first among the changes, and the worker is second.
    expect(positionOf(["components", 1, "workload_spec", "image"])).toBe("binnacle.yaml:10");
    expect(positionOf(["components", 0, "name"])).toBe("binnacle.yaml:1");
  });

  test("[BC21] sends secrets that the app does not have, the others only where that is asked for, and shows none", () => {
    const text = `${FILE}    secrets: { OLD: one-secret, NEW: another-secret }\n`;
    const now = running(web({}, { secrets: ["OLD"] }));
    const some = planOf(appIn(text), now, NO_OPTIONS);
    expect(some.body).toEqual({ components: [{ op: "patch", name: "web", secrets: { NEW: "another-secret" } }] });
    const all = planOf(appIn(text), now, { ...NO_OPTIONS, updatesSecrets: true });
    expect(all.body).toEqual({
      components: [{ op: "patch", name: "web", secrets: { OLD: "one-secret", NEW: "another-secret" } }],
    });
    for (const plan of [some, all, planOf(appIn(text), null, NO_OPTIONS)]) {
      expect(JSON.stringify([plan.before, plan.after])).not.toMatch(/one-secret|another-secret/);
      expect(
        diffLines(plan.before, plan.after)
          .map((line) => line.text)
          .join("\n"),
      ).toContain("NEW: (hidden)");
    }
  });

  test("[BC21] does not compare values of a chart that are kept as secrets", () => {
    const text =
      "name: front\ncomponents:\n  - name: db\n    type: chart\n    chart_spec: { repo: https://c.example.com, name: db, values: { auth: { user: a, password: p } } }\n";
    const chart_spec = {
      repo: "https://c.example.com",
      name: "db",
      values: { auth: { user: "a", password: { secret: "db" } } },
    };
    const now = running({ name: "db", type: "chart", chart_spec, secrets: ["auth.password"], ready_replicas: null });
    expect(planOf(appIn(text), now, NO_OPTIONS).action).toBe("none");
  });

  test("[SV14] does not compare what the server has sealed by its name, and sends it with --update-secrets", () => {
    const spec = { repo: "https://c.example.com", name: "db", values: { auth: { user: "a", password: "new" } } };
    const text = JSON.stringify({ name: "front", components: [{ name: "db", type: "chart", chart_spec: spec }] });
    const values = {
      auth: { user: "a", password: { secret_ref: { name: "front-db-secrets", key: "auth.password" } } },
    };
    const chart_spec = { ...spec, values, sealed_values: ["auth.password"] };
    const now = running({ name: "db", type: "chart", chart_spec, secrets: ["auth.password"], ready_replicas: null });
    expect(planOf(appIn(text), now, NO_OPTIONS).action).toBe("none");
    expect(planOf(appIn(text), now, { ...NO_OPTIONS, updatesSecrets: true }).body).toEqual({
      components: [{ op: "patch", name: "db", secrets: { "auth.password": "new" } }],
    });
  });

  test("[BC17] its merge patch turns what there is into what is wanted", () => {
    const leaf = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.array(fc.integer(), { maxLength: 3 }));
    const key = fc.constantFrom("a", "b", "c");
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 3 }, leaf, fc.dictionary(key, tie("value"))),
    }));
    const fields = fc.dictionary(key, value) as fc.Arbitrary<Record<string, unknown>>;
    fc.assert(
      fc.property(fields, fields, (before, after) => {
        expect(mergePatch(before, mergePatchBetween(before, after))).toEqual(after);
      }),
    );
  });
});

describe("a file that is written", () => {
  test("[BC26] is an app, also where it is the first one of an image", () => {
    const text = starter("front", "nginx:1.29", 80, "shop", "https://b.example.com");
    expect(text).toMatch(
      /^# yaml-language-server: \$schema=https:\/\/b\.example\.com\/schemas\/binnacle\.schema\.json\n/,
    );
    expect(appIn(text)).toMatchObject({
      name: "front",
      project: "shop",
      components: [{ workload_spec: { image: "nginx:1.29", ports: [{ port: 80 }] } }],
    });
    const uncommented = text.replace(/^( *)# (?=(replicas|env|resources|probes|ingress| {2}[-a-z]))/gm, "$1");
    expect(parseAll(uncommented)[0]?.errors).toEqual([]);
    expect(() => starter("Front End", "x", null, null, "https://b.example.com")).toThrow(
      '"Front End" is no name of an app',
    );
  });

  test("[BC26] of a running app changes nothing when it is deployed, and names its secrets without values", () => {
    const app = running(web({}, { secrets: ["API_KEY"] }));
    const text = exported(app, "shop", "https://b.example.com");
    expect(text).toContain("#   web: API_KEY");
    expect(planOf(appIn(text), app, NO_OPTIONS).action).toBe("none");
  });
});
