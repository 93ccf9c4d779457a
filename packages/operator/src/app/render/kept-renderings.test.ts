import { readFileSync } from "node:fs";
import { COMPONENT_TYPES, DesiredComponent, WORKLOAD_KINDS } from "@binnacle/contract";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { expect, test } from "vitest";
import { KEPT_APPS } from "./kept-apps.fixture.ts";
import {
  type Effects,
  effectsOf,
  keptRenderings,
  keptVersions,
  objectsIn,
  presentRenderings,
  together,
} from "./kept-renderings.fixture.ts";
import { objectsOf, workload } from "./rendered.fixture.ts";
import type { Workload } from "./rendering.ts";

const CHANGELOG = readFileSync(new URL("../../../../../CHANGELOG.md", import.meta.url), "utf8");
const VERSIONS = keptVersions();
const newest = VERSIONS.at(-1) ?? "";
const HOW =
  "What the operator renders is not what is kept. Where that is intended, run `npm run renderings -- <version>` with the next version, " +
  "read the difference, and commit it";

test("[RN600] the operator renders what is kept of the newest version, so that no rendering changes unnoticed", () => {
  const [kept, present] = [keptRenderings(newest), presentRenderings()];
  expect([...present.keys()].sort(), HOW).toEqual([...kept.keys()].sort());
  for (const [file, text] of present) expect(text, `${HOW}: ${file}.`).toBe(kept.get(file));
});

const effectsBetween = (before: string, after: string): Effects => {
  const [old, next] = [keptRenderings(before), keptRenderings(after)];
  const shared = [...old].flatMap(([file, text]) => {
    const other = next.get(file);
    return other === undefined ? [] : [effectsOf(objectsIn(text), objectsIn(other))];
  });
  return together(shared);
};
const pairs = VERSIONS.slice(1).map((version, at) => [VERSIONS[at] ?? "", version] as const);

/** Changes of a version; those that are unreleased until it has a section. */
const notesOf = (version: string): string => {
  const sections = CHANGELOG.split(/^## /m);
  const named = (name: string) => sections.find((section) => section.startsWith(`${name} (`));
  return named(version) ?? named("Unreleased") ?? "";
};
const restartLine = (kinds: readonly string[]) => `Restarts: ${kinds.join(", ")}.`;

test("[RN601] the changelog of a version names each kind whose pods the upgrade replaces", () => {
  for (const [before, version] of pairs) {
    const { restarted } = effectsBetween(before, version);
    const said = /\bRestarts: [^.]*\./.exec(notesOf(version))?.[0] ?? "Restarts: .";
    expect(said, `CHANGELOG.md says for ${version} which kinds restart`).toBe(restartLine(restarted));
  }
});

test("[RN602] no version changes what the API server keeps as it is, or the names of what others rely on", () => {
  for (const [before, version] of pairs) expect(effectsBetween(before, version).broken).toEqual([]);
});

test("[RN601] what an upgrade does to a workload is told from the difference of its objects", () => {
  const of = (spec: Workload, name = "web") => objectsOf([workload(name, spec)]);
  const nothing = { restarted: [], broken: [] };
  expect(effectsOf(of({}), of({}))).toEqual(nothing);
  expect(effectsOf(of({}), of({ replicas: 2 }))).toEqual(nothing);
  expect(effectsOf(of({}), of({ image: "nginx:2" }))).toEqual({ restarted: ["Deployment"], broken: [] });
  expect(effectsOf(of({ kind: "job" }), of({ kind: "job", image: "nginx:2" }))).toEqual({
    restarted: ["Job"],
    broken: [],
  });
  const nightly: Workload = { kind: "cronjob", schedule: "@daily" };
  expect(effectsOf(of(nightly), of({ ...nightly, image: "nginx:2" }))).toEqual(nothing);
});

test("[RN602] what cannot be changed and what would be made anew is told from the difference of its objects", () => {
  const volumes = [{ name: "data", mount_path: "/data", size_gb: 1 }];
  const of = (spec: Workload, name = "web") => objectsOf([workload(name, spec)]);
  expect(effectsOf(of({ ports: [{ name: "http", port: 80 }] }), of({}, "other")).broken).toEqual([
    "Deployment shop-web is deleted",
    "Service shop-web is deleted",
  ]);
  const other = [{ name: "data", mount_path: "/data", size_gb: 2 }];
  expect(effectsOf(of({ kind: "statefulset", volumes }), of({ kind: "statefulset", volumes: other })).broken).toEqual([
    "StatefulSet shop-web has another volumeClaimTemplates",
  ]);
});

/** The paths of all fields of a schema, as `probes.liveness.port`; lists have the fields of their items. */
function fieldsOfSchema(schema: TSchema, path: readonly string[] = []): string[] {
  const { properties, items } = schema as { properties?: Record<string, TSchema>; items?: TSchema };
  if (items) return fieldsOfSchema(items, path);
  if (!properties) return [path.join(".")];
  return Object.entries(properties).flatMap(([name, inner]) => fieldsOfSchema(inner, [...path, name]));
}
function fieldsOfValue(value: unknown, path: readonly string[] = []): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => fieldsOfValue(item, path));
  if (typeof value !== "object" || value === null) return [path.join(".")];
  return [path.join("."), ...Object.entries(value).flatMap(([name, inner]) => fieldsOfValue(inner, [...path, name]))];
}

test("[RN603] what is kept has every type of component, every kind of workload and every field of one", () => {
  const components = Object.values(KEPT_APPS).flatMap((app) => app.components);
  for (const component of components)
    expect([...Value.Errors(DesiredComponent, component)], component.name).toEqual([]);
  expect(new Set(components.map(({ type }) => type))).toEqual(new Set(COMPONENT_TYPES));
  const specs = components.flatMap(({ workload_spec }) => workload_spec ?? []);
  expect(new Set(specs.map(({ kind = "deployment" }) => kind))).toEqual(new Set(WORKLOAD_KINDS));
  const given = new Set(specs.flatMap((spec) => fieldsOfValue(spec)));
  const missing = fieldsOfSchema(DesiredComponent.properties.workload_spec).filter((field) => !given.has(field));
  expect(missing, "Add the field to kept-apps.fixture.ts").toEqual([]);
});
