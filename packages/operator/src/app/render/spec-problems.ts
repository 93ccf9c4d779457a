import { type DesiredComponent, parseQuantity } from "@binnacle/contract";
import { LONGEST_NAMES_TOGETHER } from "../names.ts";
import { ingressPort } from "./network.ts";
import { referenceProblems } from "./reference-problems.ts";
import type { AppSpec, Invalid, InvalidReason, Surroundings, Workload } from "./rendering.ts";
import { startOrder } from "./start-order.ts";

const invalid = (reason: InvalidReason, message: string): Invalid => ({ invalid: reason, message });

/** The first reason why nothing can be made of the app. */
export function problemOf(app: AppSpec, around: Surroundings): Invalid | null {
  const { components } = app;
  if (components.length === 0) return invalid("NoComponents", `The app ${app.name} has no components.`);
  const problems = [
    ...repeatedComponents(components),
    ...components.flatMap((component) => componentProblems(app, component, around)),
    ...components.flatMap((component) => referenceProblems(component, app, around)),
    ...circles(components),
    ...sharedAddresses(components),
  ];
  // What no addon instance can mend comes first: it does not pass.
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
  return type === "workload" ? workloadProblems(name, workload_spec ?? {}) : releaseProblems(component, around);
}

function releaseProblems({ name, addon_instance, release }: DesiredComponent, around: Surroundings): Invalid[] {
  if (addon_instance === undefined) {
    return release ? [] : [invalid("MissingChart", `Component ${name} has neither an addon instance nor a chart.`)];
  }
  if (around.instances.has(addon_instance)) return [];
  const message = `Component ${name} names the addon instance ${addon_instance} in addon_spec.instance, but the namespace has none of this name.`;
  return [{ ...invalid("UnknownAddonInstance", message), awaits: addon_instance }];
}

function workloadProblems(name: string, spec: Workload): Invalid[] {
  return [
    ...(spec.image ? [] : [invalid("MissingImage", `Component ${name} has no image in workload_spec.image.`)]),
    ...resourceProblems(name, spec),
    ...ingressProblems(name, spec),
  ];
}

function resourceProblems(name: string, { resources: { requests = {}, limits = {} } = {} }: Workload): Invalid[] {
  return (["cpu", "memory"] as const).flatMap((field) => {
    const [asked, most] = [requests[field], limits[field]];
    if (asked === undefined || most === undefined) return [];
    if ((parseQuantity(asked) ?? 0) <= (parseQuantity(most) ?? 0)) return [];
    const message = `Component ${name} requests more ${field} (${asked}) in workload_spec.resources than its limit (${most}).`;
    return [invalid("InvalidResources", message)];
  });
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

function circles(components: readonly DesiredComponent[]): Invalid[] {
  const { circle } = startOrder(components);
  if (circle.length === 0) return [];
  const round = [...circle, circle[0]].join(" → ");
  return [
    invalid("DependencyCircle", `Components need each other in a circle, by depends_on or export_ref: ${round}.`),
  ];
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
