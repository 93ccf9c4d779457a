import { HOST_PATTERN, type WorkloadSpec } from "../component.ts";
import { servedPorts } from "../component-exports.ts";
import { parseQuantity } from "../kube.ts";
import { fileProblems } from "./file-problems.ts";
import { type AppProblem, problem, repeats } from "./problem.ts";
import { isImageReference, scheduleProblem } from "./workload-syntax.ts";

/** While the app is paused, a workload is to have no replicas, which the schema of a request does not take. */
export type Workload = Omit<WorkloadSpec, "replicas"> & { readonly replicas?: number };
type Path = AppProblem["path"];

interface Judging {
  /** The name of the component. */
  readonly name: string;
  readonly spec: Workload;
  /** The place of the specification. */
  readonly at: Path;
  /** Something was taken out, so what seems to be missing may have been there. */
  readonly isPartial: boolean;
}

/** Returns the problems of one workload that no schema can express. */
export function workloadProblems(judging: Judging): AppProblem[] {
  const { name, spec, at, isPartial } = judging;
  return [
    ...repeatProblems(judging),
    ...fileProblems(name, spec, at),
    ...containerProblems(judging),
    ...imageProblems(name, "workload_spec.image", spec.image, [...at, "image"]),
    ...scheduleProblems(judging),
    ...autoscaleProblems(judging),
    ...resourceProblems(judging),
    ...hostProblems(judging),
    ...(isPartial ? [] : portProblems(judging)),
  ];
}

function repeatProblems({ name, spec, at }: Judging): AppProblem[] {
  const { env = [], ports = [], volumes = [], topology_spread = [] } = spec;
  const repeated = <T>(field: string, key: string, items: readonly T[], what: string, textOf: (item: T) => string) =>
    repeats(items, textOf).map(({ index, item }) =>
      problem(
        "DuplicateValue",
        [...at, field, index, key],
        `Component ${name} has the ${what} ${textOf(item)} twice in workload_spec.${field}.`,
      ),
    );
  return [
    ...repeated("env", "name", env, "variable", (one) => one.name),
    ...repeated("ports", "name", ports, "port name", (one) => one.name),
    ...repeated("ports", "port", ports, "port", ({ port, protocol = "TCP" }) => `${port}/${protocol}`),
    ...repeated("volumes", "name", volumes, "volume", (one) => one.name),
    ...repeated("volumes", "mount_path", volumes, "mount path", (one) => one.mount_path),
    ...repeated("topology_spread", "topology_key", topology_spread, "constraint", spreadOf),
  ];
}

/** Kubernetes takes one constraint for each. */
const spreadOf = ({ topology_key, when_unsatisfiable }: NonNullable<WorkloadSpec["topology_spread"]>[number]) =>
  `${topology_key} ${when_unsatisfiable ?? "ScheduleAnyway"}`;

const CONTAINERS = ["init_containers", "sidecars"] as const;

/** All containers of a pod have names of their own. The one of the component has the component's. */
function containerProblems({ name: own, spec, at }: Judging): AppProblem[] {
  const taken = new Set([own]);
  return CONTAINERS.flatMap((list) =>
    (spec[list] ?? []).flatMap(({ name, image, env = [] }, index) => {
      const place = [...at, list, index];
      const isTaken = taken.has(name);
      taken.add(name);
      const why =
        name === own ? `, which is the name of the component's own container.` : ", which another container has.";
      const message = `Component ${own} has a container ${name} in workload_spec.${list}${why}`;
      return [
        ...(isTaken ? [problem("DuplicateName", [...place, "name"], message)] : []),
        ...imageProblems(own, `workload_spec.${list}[${index}].image`, image, [...place, "image"]),
        ...repeats(env, (variable) => variable.name).map((repeated) =>
          problem(
            "DuplicateValue",
            [...place, "env", repeated.index, "name"],
            `Component ${own} has the variable ${repeated.item.name} twice in the container ${name}.`,
          ),
        ),
      ];
    }),
  );
}

function imageProblems(component: string, field: string, image: string | undefined, path: Path): AppProblem[] {
  // An empty image is one that is missing, which is reported as such.
  if (image === undefined || image === "" || isImageReference(image)) return [];
  const message = `Component ${component} has no image reference in ${field}: it should be such as registry.example.com/team/app:1.2, in lower case, with at most one tag and one digest.`;
  return [problem("InvalidImage", path, message)];
}

function scheduleProblems({ name, spec: { schedule }, at }: Judging): AppProblem[] {
  const wrong = schedule === undefined ? null : scheduleProblem(schedule);
  if (wrong === null) return [];
  const message = `Component ${name} has no schedule that Kubernetes takes in workload_spec.schedule: ${wrong}.`;
  return [problem("InvalidSchedule", [...at, "schedule"], message)];
}

function autoscaleProblems({ name, spec: { autoscale }, at }: Judging): AppProblem[] {
  if (!autoscale || autoscale.min <= autoscale.max) return [];
  const message = `Component ${name} scales by itself to at most ${autoscale.max} replicas, which are fewer than its least, ${autoscale.min}.`;
  return [problem("InvalidAutoscale", [...at, "autoscale", "max"], message)];
}

function resourceProblems({ name, spec, at }: Judging): AppProblem[] {
  const containers = [
    { said: "workload_spec.resources", resources: spec.resources, place: [...at, "resources"] },
    ...CONTAINERS.flatMap((list) =>
      (spec[list] ?? []).map((container, index) => ({
        said: `the container ${container.name}`,
        resources: container.resources,
        place: [...at, list, index, "resources"],
      })),
    ),
  ];
  return containers.flatMap(({ said, resources: { requests = {}, limits = {} } = {}, place }) =>
    (["cpu", "memory"] as const).flatMap((field) => {
      const [asked, most] = [requests[field], limits[field]];
      const [low, high] = [parseQuantity(asked), parseQuantity(most)];
      if (low === null || high === null || low <= high) return [];
      const message = `Component ${name} requests more ${field} (${asked}) in ${said} than its limit (${most}).`;
      return [problem("InvalidResources", [...place, "requests", field], message)];
    }),
  );
}

const HOST = new RegExp(HOST_PATTERN);

function hostProblems({ name, spec: { ingress }, at }: Judging): AppProblem[] {
  if (!ingress || HOST.test(ingress.host)) return [];
  const message = `Component ${name} has ${ingress.host} in workload_spec.ingress.host, which is not the name of a host.`;
  return [problem("InvalidHost", [...at, "ingress", "host"], message)];
}

/** The port that an ingress leads to: the one it names, else the first that speaks TCP. Undefined where there is none. */
export function ingressPort({ ingress, ...spec }: Pick<Workload, "kind" | "ports" | "ingress">): number | undefined {
  const open = servedPorts({ workload_spec: spec }).filter(({ protocol = "TCP" }) => protocol === "TCP");
  return open.find(({ port }) => ingress?.port === undefined || port === ingress.port)?.port;
}

function portProblems({ name, spec, at }: Judging): AppProblem[] {
  const { ingress } = spec;
  if (!ingress || ingressPort(spec) !== undefined) return [];
  const port = ingress.port === undefined ? "leads to no port" : `leads to port ${ingress.port}`;
  const message = `The ingress of component ${name} ${port}: workload_spec.ports must have it, for TCP, and a job serves none.`;
  return [problem("UnknownPort", [...at, "ingress", ...(ingress.port === undefined ? [] : ["port"])], message)];
}
