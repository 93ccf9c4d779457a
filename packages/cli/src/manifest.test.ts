import { type AppComponent, renameExportRefs as renameHere } from "@binnacle/client";
import { renameInComponents } from "@binnacle/contract";
import { planOf } from "@binnacle/manifest/plan";
import { documentsIn } from "@binnacle/manifest/read";
import { describe, expect, test } from "vitest";
import { appsIn, exported, starter } from "./manifest.ts";

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
  const [app] = appsIn("binnacle.yaml", text, env);
  if (!app) throw new Error("no app");
  return app;
};
const web = (spec: object = {}, more: object = {}): AppComponent => ({
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
const running = (...components: AppComponent[]) => ({ name: "front", description: null, components });

describe("a file", () => {
  test("[BC103] a binnacle.yaml may write exportRef for export_ref, and is compared as the API stores it", () => {
    const file = `name: front
components:
  - name: web
    exportRefs: [{ component: db }]
    workload_spec: { env: [{ name: URL, exportRef: { component: db, key: url } }] }
`;
    const [app] = appsIn("f.yaml", file, null);
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

  test("[BC17] a binnacle.yaml may hold several apps", () => {
    const apps = appsIn("f.yaml", `${FILE}---\nname: back\ncomponents: []\n`, null);
    expect(apps.map(({ name, project }) => [name, project])).toEqual([
      ["front", "shop"],
      ["back", undefined],
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
    [
      "name: a\ncomponents:\n  - name: web\n  - name: web\n",
      "f.yaml:4: components.1.name: Another component has this name already.",
    ],
    [`${FILE}---\n${FILE}`, "f.yaml holds the app shop/front twice."],
    ["# nothing\n", "f.yaml holds no app."],
  ])("[BC14] a binnacle.yaml that is wrong is refused with its line: %j", (text, message) => {
    expect(() => appsIn("f.yaml", text, null)).toThrow(message);
  });

  test("[BC20] a binnacle.yaml takes variables only where that is asked for, and as values rather than as YAML", () => {
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

describe("a file that is written", () => {
  test("[BC26] the file that `init` writes is an app of the given image", () => {
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
    expect(documentsIn(uncommented)[0]?.errors).toEqual([]);
    expect(() => starter("Front End", "x", null, null, "https://b.example.com")).toThrow(
      '"Front End" is not a name of an app',
    );
  });

  test("[BC26] an exported file changes nothing when it is deployed, and names its secrets without values", () => {
    const app = running(web({}, { secrets: ["API_KEY"] }));
    const text = exported(app, "shop", "https://b.example.com");
    expect(text).toContain("#   web: API_KEY");
    expect(text).toContain("A secret_ref in the values of a chart stands for\n# a secret of this app");
    expect(planOf(appIn(text), app, NO_OPTIONS).action).toBe("none");
  });
});
