import { readdirSync, readFileSync } from "node:fs";
import { canonicalJson } from "@binnacle/contract";
import { dump, loadAll } from "js-yaml";
import type { KubeObject } from "../../kube/kube-client.ts";
import { specOf } from "../../kube/object-fields.ts";
import { KEPT_APPS, keptRendering } from "./kept-apps.fixture.ts";

/** The objects of the kept apps as the operators of releases rendered them, in a folder for each version. */
export const KEPT_RENDERINGS = new URL("./releases/", import.meta.url);

/** By the name of their file. */
type Renderings = ReadonlyMap<string, string>;

export const presentRenderings = (): Renderings =>
  new Map(
    Object.entries(KEPT_APPS).map(([name, app]) => [
      `${name}.yaml`,
      textOf(keptRendering(app).components.flatMap(({ objects }) => objects)),
    ]),
  );

const textOf = (objects: readonly KubeObject[]): string =>
  objects.map((object) => dump(object, { noRefs: true, lineWidth: 120 })).join("---\n");

export const objectsIn = (text: string): KubeObject[] => loadAll(text) as KubeObject[];

/** The oldest first. */
export const keptVersions = (folder = KEPT_RENDERINGS): string[] =>
  readdirSync(folder).sort((one, other) => one.localeCompare(other, "en", { numeric: true }));

export function keptRenderings(version: string, folder = KEPT_RENDERINGS): Renderings {
  const own = new URL(`${version}/`, folder);
  return new Map(readdirSync(own).map((file) => [file, readFileSync(new URL(file, own), "utf8")]));
}

/** What an upgrade of the operator does to the workloads of an app that stays as it is. */
export interface Effects {
  /** Kinds whose pods are replaced, or that do their work again. */
  readonly restarted: readonly string[];
  /** What the API server refuses to change, or what is deleted and made anew under another name. */
  readonly broken: readonly string[];
}

/** Objects that are missed under their name, with the fields that cannot be changed. */
const FIXED: Readonly<Record<string, readonly string[]>> = {
  Deployment: ["selector"],
  StatefulSet: ["selector", "serviceName", "podManagementPolicy", "volumeClaimTemplates"],
  DaemonSet: ["selector"],
  CronJob: [],
  PersistentVolumeClaim: ["accessModes", "storageClassName"],
  Service: ["clusterIP"],
};

/** Compares what the same app becomes with two versions of the operator. */
export function effectsOf(before: readonly KubeObject[], after: readonly KubeObject[]): Effects {
  const known = new Map(after.map((object) => [nameOf(object), object]));
  const effects = before.map((object): Effects => {
    const next = known.get(nameOf(object));
    const { kind } = object;
    // A Job is named after its pods, so that another rendering of them is another Job.
    if (!next && kind === "Job") return { restarted: [kind], broken: [] };
    if (!next) return { restarted: [], broken: Object.hasOwn(FIXED, kind) ? [`${nameOf(object)} is deleted`] : [] };
    const differs = (field: string) => !isSame(specOf(object)[field], specOf(next)[field]);
    return {
      restarted: differs("template") ? [kind] : [],
      broken: (FIXED[kind] ?? []).filter(differs).map((field) => `${nameOf(object)} has another ${field}`),
    };
  });
  return together(effects);
}

export const together = (effects: readonly Effects[]): Effects => ({
  restarted: [...new Set(effects.flatMap(({ restarted }) => restarted))].sort(),
  broken: [...new Set(effects.flatMap(({ broken }) => broken))].sort(),
});

const isSame = (one: unknown, other: unknown): boolean => canonicalJson(one ?? null) === canonicalJson(other ?? null);

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;
