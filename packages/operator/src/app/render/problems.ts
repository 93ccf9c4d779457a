import {
  type DesiredComponent,
  needsOf,
  type ProblemCode,
  problemsOf,
  unknownExport,
  warningsOf,
} from "@binnacle/contract";
import type { KubeObject } from "../../kube/kube-client.ts";
import { type App, composedExports, type Publishers, secretsOf, tooLongMessage } from "./publishers.ts";
import type { AppSpec, Invalid, InvalidReason, RenderedComponent, Surroundings, Workload } from "./rendering.ts";

const invalid = (reason: InvalidReason, message: string): Invalid => ({ invalid: reason, message });

/** Apps that were stored before this was refused may have it, and their pods run all the same. */
const TOLERATED: ReadonlySet<ProblemCode> = new Set(["UnknownAffinity"]);

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

const componentProblems = (component: DesiredComponent, around: Surroundings): Invalid[] =>
  component.type === "workload"
    ? securityProblems(component.name, component.workload_spec ?? {}, around)
    : releaseProblems(component, around);

function releaseProblems({ name, addon_instance, release }: DesiredComponent, around: Surroundings): Invalid[] {
  if (addon_instance === undefined) {
    return release ? [] : [invalid("MissingChart", `Component ${name} has neither an addon instance nor a chart.`)];
  }
  if (around.instances.has(addon_instance)) return [];
  const message = `Component ${name} names the addon instance ${addon_instance} in addon_spec.instance, but the namespace has none of this name.`;
  return [{ ...invalid("UnknownAddonInstance", message), awaits: addon_instance }];
}

/** The app has used the instance, so whoever deleted it is to be told what to do. */
export function deletedInstance({ components }: AppSpec, instance: string): Invalid {
  const names = components.filter(({ addon_instance }) => addon_instance === instance).map(({ name }) => name);
  const message = `Component ${names.join(", ")} needs the addon instance ${instance}, which was deleted. Create an addon instance of this name again, or remove the component and the export_refs to it.`;
  return invalid("AddonInstanceDeleted", message);
}

/** The level adds what it asks for by name. It does not overrule a component that asks for the opposite. */
function securityProblems(name: string, { security_context = {} }: Workload, around: Surroundings): Invalid[] {
  const { run_as_user, run_as_non_root } = security_context;
  const field = run_as_user === 0 ? "run_as_user" : run_as_non_root === false ? "run_as_non_root" : null;
  if (field === null || around.podSecurity !== "restricted") return [];
  const message = `Component ${name} asks for root in workload_spec.security_context.${field}, but the Pod Security level of the project is restricted.`;
  return [invalid("InvalidSecurityContext", message)];
}

const exportProblems = (app: App, component: DesiredComponent): Invalid[] =>
  composedExports(app, component).tooLong.map((key) => invalid("TooLarge", tooLongMessage(component.name, key)));

/** What addons and charts export is known here only. */
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
