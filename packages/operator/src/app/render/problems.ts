import { type DesiredComponent, parseQuantity, unknownPlaceholders, workloadVariables } from "@binnacle/contract";
import type { KubeObject } from "../../kube/kube-client.ts";
import { LONGEST_NAMES_TOGETHER } from "../names.ts";
import { ingressPort } from "./network.ts";
import { type App, composedExports, type Publishers, secretsOf, tooLongMessage } from "./publishers.ts";
import type { AppSpec, Invalid, InvalidReason, RenderedComponent, Surroundings, Workload } from "./rendering.ts";
import { startOrder } from "./start-order.ts";

const invalid = (reason: InvalidReason, message: string): Invalid => ({ invalid: reason, message });

/** The first reason why nothing can be made of the app. */
export function problemOf(whole: App, around: Surroundings, publishers: Publishers): Invalid | null {
  const { spec: app } = whole;
  const { components } = app;
  if (components.length === 0) return invalid("NoComponents", `The app ${app.name} has no components.`);
  const problems = [
    ...repeatedComponents(components),
    ...components.flatMap((component) => componentProblems(app, component, around)),
    ...components.flatMap((component) => exportProblems(whole, component)),
    ...components.flatMap((component) => fileProblems(whole, component)),
    ...components.flatMap((component) => referenceProblems(component, app, around, publishers)),
    ...circles(components),
    ...sharedAddresses(components),
  ];
  // Permanent problems come first: a missing addon instance may still arrive.
  return problems.find(({ awaits }) => awaits === undefined) ?? problems[0] ?? null;
}

function repeatedComponents(components: readonly DesiredComponent[]): Invalid[] {
  const names = components.map(({ name }) => name);
  return names
    .filter((name, index) => names.indexOf(name) < index)
    .map((name) => invalid("DuplicateName", `Two components have the name ${name}.`));
}

function componentProblems(app: AppSpec, component: DesiredComponent, around: Surroundings): Invalid[] {
  const { name, type, workload_spec } = component;
  if (app.name.length + name.length > LONGEST_NAMES_TOGETHER) {
    const message = `The names of app ${app.name} and component ${name} are together longer than ${LONGEST_NAMES_TOGETHER} characters.`;
    return [invalid("NameTooLong", message)];
  }
  return type === "workload" ? workloadProblems(name, workload_spec ?? {}, around) : releaseProblems(component, around);
}

function releaseProblems({ name, addon_instance, release }: DesiredComponent, around: Surroundings): Invalid[] {
  if (addon_instance === undefined) {
    return release ? [] : [invalid("MissingChart", `Component ${name} has neither an addon instance nor a chart.`)];
  }
  if (around.instances.has(addon_instance)) return [];
  const message = `Component ${name} names the addon instance ${addon_instance} in addon_spec.instance, but the namespace has none of this name.`;
  return [{ ...invalid("UnknownAddonInstance", message), awaits: addon_instance }];
}

function workloadProblems(name: string, spec: Workload, around: Surroundings): Invalid[] {
  return [
    ...(spec.image ? [] : [invalid("MissingImage", `Component ${name} has no image in workload_spec.image.`)]),
    ...securityProblems(name, spec, around),
    ...resourceProblems(name, spec),
    ...ingressProblems(name, spec),
  ];
}

/** The level adds what it asks for by name. It does not overrule a component that asks for the opposite. */
function securityProblems(name: string, { security_context = {} }: Workload, around: Surroundings): Invalid[] {
  const { run_as_user, run_as_non_root } = security_context;
  const field = run_as_user === 0 ? "run_as_user" : run_as_non_root === false ? "run_as_non_root" : null;
  if (field === null || around.podSecurity !== "restricted") return [];
  const message = `Component ${name} asks for root in workload_spec.security_context.${field}, but the Pod Security level of the project is restricted.`;
  return [invalid("InvalidSecurityContext", message)];
}

function resourceProblems(name: string, { resources, init_containers = [], sidecars = [] }: Workload): Invalid[] {
  const containers = [
    { said: "workload_spec.resources", resources },
    ...[...init_containers, ...sidecars].map((it) => ({ said: `the container ${it.name}`, resources: it.resources })),
  ];
  return containers.flatMap(({ said, resources: { requests = {}, limits = {} } = {} }) =>
    (["cpu", "memory"] as const).flatMap((field) => {
      const [asked, most] = [requests[field], limits[field]];
      if (asked === undefined || most === undefined) return [];
      if ((parseQuantity(asked) ?? 0) <= (parseQuantity(most) ?? 0)) return [];
      const message = `Component ${name} requests more ${field} (${asked}) in ${said} than its limit (${most}).`;
      return [invalid("InvalidResources", message)];
    }),
  );
}

const HOST = /^(\*\.)?[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/;

function ingressProblems(name: string, spec: Workload): Invalid[] {
  const { ingress } = spec;
  if (!ingress) return [];
  if (!HOST.test(ingress.host)) {
    const message = `Component ${name} has ${ingress.host} in workload_spec.ingress.host, which is not the name of a host.`;
    return [invalid("InvalidHost", message)];
  }
  if (ingressPort(spec) !== undefined) return [];
  const port = ingress.port === undefined ? "leads to no port" : `leads to port ${ingress.port}`;
  const message = `The ingress of component ${name} ${port}: workload_spec.ports must have it, for TCP, and a job serves none.`;
  return [invalid("UnknownPort", message)];
}

function exportProblems(app: App, component: DesiredComponent): Invalid[] {
  return [
    ...unknownPlaceholders(component).map(({ key, placeholder, known }) => {
      const has = known.slice(0, KEYS_NAMED).join(", ") || "nothing";
      const message = `Component ${component.name} uses \${${placeholder.slice(0, LONGEST_NAMED)}} in exports.${key}, but its exports may use ${has}.`;
      return invalid("UnknownExport", message);
    }),
    ...composedExports(app, component).tooLong.map((key) => invalid("TooLarge", tooLongMessage(component.name, key))),
  ];
}

/** Pods with a file of a secret that is not set would wait for it without a word. */
function fileProblems(app: App, { name, workload_spec }: DesiredComponent): Invalid[] {
  const secrets = secretsOf(app, name);
  return (workload_spec?.files ?? []).flatMap(({ path, secret }) => {
    if (secret === undefined || Object.hasOwn(secrets, secret)) return [];
    const message = `Component ${name} has no secret ${secret}, which workload_spec.files has at ${path}: set it, or remove the file.`;
    return [invalid("MissingSecret", message)];
  });
}

function circles(components: readonly DesiredComponent[]): Invalid[] {
  const { circle } = startOrder(components);
  if (circle.length === 0) return [];
  const pass = [...circle, circle[0]].join(" → ");
  return [invalid("DependencyCircle", `Components need each other in a circle, by depends_on or export_ref: ${pass}.`)];
}

function sharedAddresses(components: readonly DesiredComponent[]): Invalid[] {
  const owners = new Map<string, string>();
  return components.flatMap(({ name, workload_spec }) => {
    const ingress = workload_spec?.ingress;
    if (!ingress) return [];
    const address = `${ingress.host}${(ingress.path ?? "/").replace(/(?<=.)\/+$/, "")}`;
    const owner = owners.get(address);
    owners.set(address, owner ?? name);
    if (owner === undefined) return [];
    const message = `Components ${owner} and ${name} both have ${address} in workload_spec.ingress.`;
    return [invalid("IngressConflict", message)];
  });
}

const KEYS_NAMED = 10;
const LONGEST_NAMED = 100;

interface Reference {
  readonly to: string;
  readonly key: string | undefined;
  /** The field with the problem. */
  readonly field: string;
}

function referencesOf({ export_refs = [], workload_spec }: DesiredComponent): Reference[] {
  return [
    ...export_refs.map(({ component: to, key }, index) => ({ to, key, field: `export_refs[${index}]` })),
    ...workloadVariables(workload_spec).flatMap(({ variable: { name, export_ref } }) =>
      export_ref
        ? [{ to: export_ref.component, key: export_ref.key, field: `the export_ref of variable ${name}` }]
        : [],
    ),
  ];
}

/** Problems of references to components or addon instances that are absent or do not have the key. */
function referenceProblems(
  component: DesiredComponent,
  app: AppSpec,
  around: Surroundings,
  publishers: Publishers,
): Invalid[] {
  const names = new Set(app.components.map(({ name }) => name));
  const strangers = (component.depends_on ?? []).filter((name) => !names.has(name));
  return [
    ...strangers.map(
      (name): Invalid => ({
        invalid: "UnknownComponent",
        message: `Component ${component.name} names ${name} in depends_on, but the app has no such component.`,
      }),
    ),
    ...referencesOf(component).flatMap((reference) => referenceProblem(component.name, reference, around, publishers)),
  ];
}

function referenceProblem(
  from: string,
  { to, key, field }: Reference,
  around: Surroundings,
  publishers: Publishers,
): Invalid[] {
  const publisher = publishers(to);
  if (!publisher) {
    const way = around.instances.has(to)
      ? ` Add a component ${to} of type addon with addon_spec.instance ${to} to use the addon instance of this name.`
      : "";
    const message = `Component ${from} names ${to} in ${field}, but the app has no such component.${way}`;
    return [{ invalid: "UnknownComponent", message }];
  }
  if (key === undefined || publisher.keys.includes(key)) return [];
  const has = publisher.keys.slice(0, KEYS_NAMED).join(", ") || "nothing";
  const message = `Component ${from} asks for ${key} of ${to} in ${field}, but ${to} exports ${has}.`;
  return [{ invalid: "UnknownExport", message }];
}

type Drawn = Pick<RenderedComponent, "name" | "objects">;

/** Kubernetes takes no ConfigMap or Secret that holds more. */
const MOST_DATA_BYTES = 1024 * 1024;

/** Problems that show only after names and content are rendered. */
export const renderedProblem = (components: readonly Drawn[]): Invalid | null =>
  repeatedName(components) ?? tooLarge(components);

function repeatedName(components: readonly Drawn[]): Invalid | null {
  const owners = new Map<string, string>();
  for (const { name: component, objects } of components) {
    for (const { kind, metadata } of objects) {
      const owner = owners.get(`${kind}/${metadata.name}`);
      if (owner !== undefined) {
        const message = `Components ${owner} and ${component} would both have a ${kind} ${metadata.name}: rename one of them.`;
        return { invalid: "DuplicateName", message };
      }
      owners.set(`${kind}/${metadata.name}`, component);
    }
  }
  return null;
}

const FIELDS: Readonly<Record<string, string>> = { ConfigMap: "variables or files", Secret: "secrets" };

function tooLarge(components: readonly Drawn[]): Invalid | null {
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
