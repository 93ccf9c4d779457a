import type { App, AppComponent } from "@binnacle/client";
import { mergePatch } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lineDiff } from "./diff.ts";
import { mergePatchBetween, pathInFile } from "./patch.ts";
import { type Plan, planOf } from "./plan.ts";
import { type Fields, lineAt, type Path, placesIn, readApps, toYaml } from "./read.ts";

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
const appIn = (text: string) => {
  const [app] = readApps(text).apps;
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
const running = (...components: AppComponent[]): Pick<App, "description" | "components"> => ({
  description: null,
  components,
});
const sentBy = (plan: Plan) => (plan.action === "update" ? plan.body : plan.action);
const differences = (before: Fields, after: Fields) =>
  lineDiff(toYaml(before), toYaml(after)).map(
    ({ kind, text }) => `${{ added: "+", removed: "-", same: " ", gap: "…" }[kind]} ${text}`,
  );

describe("a plan", () => {
  test("[BC17] a plan creates an app that does not exist", () => {
    expect(planOf(appIn(FILE), null, NO_OPTIONS)).toMatchObject({
      action: "create",
      body: { name: "front", components: [{ name: "web" }] },
    });
  });

  test("[BC17] a plan takes neither defaults nor a count that the file leaves out for a difference", () => {
    expect(planOf(appIn(FILE), running(web()), NO_OPTIONS)).toMatchObject({ action: "none" });
  });

  test("[BC17] a plan adds, removes and patches what differs, and nothing else", () => {
    const text = `${FILE.replace("1.29", "1.30")}  - name: worker\n    workload_spec: { image: worker:1 }\n`;
    const plan = planOf(appIn(text), running(web(), web({}, { name: "old" })), NO_OPTIONS);
    expect(sentBy(plan)).toEqual({
      components: [
        { op: "remove", name: "old" },
        { op: "patch", name: "web", workload_spec: { image: "nginx:1.30" } },
        { op: "add", name: "worker", workload_spec: { image: "worker:1" } },
      ],
    });
    const lines = differences(plan.before, plan.after);
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

  test("[BC14] a field of a plan's request is found in the file", () => {
    const text = `${FILE}  - name: worker
    workload_spec: { image: "" }
`;
    const { indexes } = planOf(appIn(text), running(web(), web({}, { name: "old" })), NO_OPTIONS);
    const lineOf = (path: Path) => lineAt(text, placesIn(text)(pathInFile(path, indexes)).from);
    // The removal of `old` is first among the changes, and the worker is second.
    expect(lineOf(["components", 1, "workload_spec", "image"])).toBe(10);
    expect(lineOf(["components", 0, "name"])).toBe(3);
    expect(lineOf(["description"])).toBe(1);
  });

  test("[BC21] a plan sends secrets that the app lacks, the others only where that is asked for, and shows none", () => {
    const text = `${FILE}    secrets: { OLD: one-secret, NEW: another-secret }\n`;
    const now = running(web({}, { secrets: ["OLD"] }));
    const some = planOf(appIn(text), now, NO_OPTIONS);
    expect(sentBy(some)).toEqual({ components: [{ op: "patch", name: "web", secrets: { NEW: "another-secret" } }] });
    const all = planOf(appIn(text), now, { ...NO_OPTIONS, updatesSecrets: true });
    expect(sentBy(all)).toEqual({
      components: [{ op: "patch", name: "web", secrets: { OLD: "one-secret", NEW: "another-secret" } }],
    });
    for (const plan of [some, all, planOf(appIn(text), null, NO_OPTIONS)]) {
      expect(JSON.stringify([plan.before, plan.after])).not.toMatch(/one-secret|another-secret/);
      expect(differences(plan.before, plan.after).join("\n")).toContain("NEW: (hidden)");
    }
  });

  test("[BC21] a plan shows no secret among the values of a chart, in a new app and in a change", () => {
    const spec = { repo: "https://c.example.com", name: "db", secret_values: ["pin"] };
    const values = { auth: { user: "a", password: "hush-1" }, pin: "hush-2", users: [{ password: "hush-3" }] };
    const text = JSON.stringify({
      name: "front",
      components: [{ name: "db", type: "chart", chart_spec: { ...spec, values } }],
    });
    const older = { ...spec, values: { auth: { user: "b", password: "hush-0" } } };
    const now = running({ name: "db", type: "chart", chart_spec: older, secrets: [], ready_replicas: null });
    for (const plan of [planOf(appIn(text), null, NO_OPTIONS), planOf(appIn(text), now, NO_OPTIONS)]) {
      const shown = JSON.stringify([plan.before, plan.after]);
      expect(shown).not.toContain("hush");
      expect(shown).toContain('"password":"(hidden)"');
      expect(JSON.stringify(plan)).toContain("hush-1");
    }
  });

  test("[BC21] a plan does not compare values of a chart that are kept as secrets", () => {
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

  test("[SV14] a plan does not compare values that the server has sealed by their name, and sends them with --update-secrets", () => {
    const spec = { repo: "https://c.example.com", name: "db", values: { auth: { user: "a", password: "new" } } };
    const text = JSON.stringify({ name: "front", components: [{ name: "db", type: "chart", chart_spec: spec }] });
    const values = {
      auth: { user: "a", password: { secret_ref: { name: "front-db-secrets", key: "auth.password" } } },
    };
    const chart_spec = { ...spec, values, sealed_values: ["auth.password"] };
    const now = running({ name: "db", type: "chart", chart_spec, secrets: ["auth.password"], ready_replicas: null });
    expect(planOf(appIn(text), now, NO_OPTIONS).action).toBe("none");
    expect(sentBy(planOf(appIn(text), now, { ...NO_OPTIONS, updatesSecrets: true }))).toEqual({
      components: [{ op: "patch", name: "db", secrets: { "auth.password": "new" } }],
    });
  });

  test("[BC17] the merge patch of a plan turns the current fields into the wanted ones", () => {
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
