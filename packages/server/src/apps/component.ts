import type { ComponentSpec, ValidationItem, WorkloadSpec } from "@binnacle/contract";
import { circularNeeds, needsOf } from "./component-graph.ts";

type Loc = ValidationItem["loc"];

/** So that the names made of both, and what Kubernetes appends to them, stay within 63 characters. */
const LONGEST_NAMES_TOGETHER = 52;

/** What the schema cannot say about the components of an app; every problem, each where it is in the list. */
export function componentProblems(appName: string, components: readonly ComponentSpec[]): ValidationItem[] {
  return [
    ...repeats(components, (component) => component.name).map((index) =>
      wrong([index, "name"], "Names must be unique"),
    ),
    ...components.flatMap((component, index) => [
      ...nameProblems(appName, component, index),
      ...(component.workload_spec ? workloadProblems(component.workload_spec, [index, "workload_spec"]) : []),
    ]),
    ...needProblems(components),
  ];
}

const wrong = (loc: Loc, msg: string): ValidationItem => ({ loc, msg, type: "value_error" });

function nameProblems(appName: string, { name }: ComponentSpec, index: number): ValidationItem[] {
  if (appName.length + name.length <= LONGEST_NAMES_TOGETHER) return [];
  return [wrong([index, "name"], `App and component name together are at most ${LONGEST_NAMES_TOGETHER} characters`)];
}

function workloadProblems(spec: WorkloadSpec, loc: Loc): ValidationItem[] {
  const { env = [], ports = [], volumes = [], autoscale } = spec;
  const repeated = <T>(field: string, items: readonly T[], keyOf: (item: T) => unknown, key: string) =>
    repeats(items, keyOf).map((at) => wrong([...loc, field, at, key], "Values must be unique"));
  return [
    ...repeated("env", env, ({ name }) => name, "name"),
    ...repeated("ports", ports, ({ name }) => name, "name"),
    ...repeated("ports", ports, ({ port, protocol = "TCP" }) => `${port}/${protocol}`, "port"),
    ...repeated("volumes", volumes, ({ name }) => name, "name"),
    ...repeated("volumes", volumes, ({ mount_path }) => mount_path, "mount_path"),
    ...(autoscale && autoscale.min > autoscale.max
      ? [wrong([...loc, "autoscale", "max"], "The most replicas must not be fewer than the least")]
      : []),
  ];
}

/** An export_ref that names no component is no problem here: the cluster says that it is invalid. */
function needProblems(components: readonly ComponentSpec[]): ValidationItem[] {
  const names = new Set(components.map(({ name }) => name));
  const needs = needsOf(components);
  return [
    ...needs
      .filter(({ by, to }) => by === "depends_on" && !names.has(to))
      .map(({ loc }) => wrong(loc, "The app has no component of this name")),
    ...circularNeeds(needs).map(({ loc, from, to }) => wrong(loc, `${from} and ${to} need each other in a circle`)),
  ];
}

/** The places of those that have the key of an earlier one. */
function repeats<T>(items: readonly T[], keyOf: (item: T) => unknown): number[] {
  const seen = new Set<unknown>();
  return items.flatMap((item, index) => {
    const key = keyOf(item);
    if (seen.has(key)) return [index];
    seen.add(key);
    return [];
  });
}
