import {
  type DesiredComponent,
  type InvalidReason,
  needsOf,
  problemsOf,
  projectProblems,
  unknownExport,
  warningsOf,
} from "@binnacle/contract";
import type { KubeObject } from "../../kube/kube-client.ts";
import { type App, composedExports, type Publishers, secretsOf, tooLongMessage } from "./publishers.ts";
import type { AppSpec, Invalid, RenderedComponent, Surroundings } from "./rendering.ts";

const invalid = (reason: InvalidReason, message: string): Invalid => ({ invalid: reason, message });

/** Apps that were stored before this was refused may have it, and their pods run all the same. */
const TOLERATED: ReadonlySet<InvalidReason> = new Set(["UnknownAffinity"]);

/** The first reason why nothing can be made of the app: those of the app itself, and those that show on this cluster only. */
export function problemOf(app: App, around: Surroundings, publishers: Publishers): Invalid | null {
  const { components } = app.spec;
  const keysOf = (component: string) => Object.keys(secretsOf(app, component));
  const own = [...problemsOf(app.spec), ...warningsOf(app.spec, keysOf)].filter(({ code }) => !TOLERATED.has(code));
  const problems = [
    ...own.map(({ code, message }) => invalid(code, message)),
    ...components.flatMap((component) => componentProblems(component, around)),
    ...components.flatMap((component) => exportProblems(app, component)),
    ...referenceProblems(components, publishers),
  ];
  // Permanent problems come first: a missing addon instance may still arrive.
  return problems.find(({ awaits }) => awaits === undefined) ?? problems[0] ?? null;
}

function componentProblems(component: DesiredComponent, { podSecurity, instances }: Surroundings): Invalid[] {
  const { name, type, workload_spec = {}, addon_instance, release } = component;
  if (type !== "workload" && addon_instance === undefined && !release) {
    return [invalid("MissingChart", `Component ${name} has neither an addon instance nor a chart.`)];
  }
  const judged = {
    name,
    workload_spec,
    ...(addon_instance === undefined ? {} : { addon_spec: { instance: addon_instance } }),
  };
  const facts = { podSecurity, hasInstance: (instance: string) => instances.has(instance) };
  return projectProblems([judged], facts).map(({ code, message }) =>
    code === "UnknownAddonInstance" && addon_instance !== undefined
      ? { ...invalid(code, message), awaits: addon_instance }
      : invalid(code, message),
  );
}

/** The app has used the instance, so whoever deleted it is to be told what to do. */
export function deletedInstance({ components }: AppSpec, instance: string): Invalid {
  const names = components.filter(({ addon_instance }) => addon_instance === instance).map(({ name }) => name);
  const message = `Component ${names.join(", ")} needs the addon instance ${instance}, which was deleted. Create an addon instance of this name again, or remove the component and the export_refs to it.`;
  return invalid("AddonInstanceDeleted", message);
}

const exportProblems = (app: App, component: DesiredComponent): Invalid[] =>
  composedExports(app, component).tooLong.map((key) => invalid("TooLarge", tooLongMessage(component.name, key)));

/** The exports of addons and charts are known only in the cluster. */
function referenceProblems(components: readonly DesiredComponent[], publishers: Publishers): Invalid[] {
  return needsOf(components).flatMap((need) => {
    const publisher = need.key === undefined ? null : publishers(need.to);
    if (!publisher || need.key === undefined || publisher.keys.includes(need.key)) return [];
    return [invalid("UnknownExport", unknownExport(need, publisher.keys))];
  });
}

type Drawn = Pick<RenderedComponent, "name" | "objects">;

/** Kubernetes takes no ConfigMap or Secret that holds more. */
const MOST_DATA_BYTES = 1024 * 1024;

const FIELDS: Readonly<Record<string, string>> = { ConfigMap: "variables or files", Secret: "secrets" };

/** Shows only after the content is rendered. */
export function tooLarge(components: readonly Drawn[]): Invalid | null {
  for (const { name, objects } of components) {
    const large = objects.find((object) => FIELDS[object.kind] && dataBytes(object) > MOST_DATA_BYTES);
    if (large) {
      const message = `The ${FIELDS[large.kind]} of component ${name} are larger than 1 MiB together.`;
      return { invalid: "TooLarge", message };
    }
  }
  return null;
}

function dataBytes({ kind, data = {} }: KubeObject): number {
  const encoding = kind === "Secret" ? "base64" : "utf8";
  return Object.entries(data as Record<string, string>)
    .map(([key, value]) => key.length + Buffer.byteLength(value, encoding))
    .reduce((sum, bytes) => sum + bytes, 0);
}
