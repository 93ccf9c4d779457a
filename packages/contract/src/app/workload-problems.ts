import { isMoreThan } from "../kube.ts";
import { HOST_PATTERN, type WorkloadSpec } from "./component.ts";
import { servedPorts } from "./exports.ts";
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
    ...pathProblems(judging),
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
      if (!isMoreThan(asked, most)) return [];
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

/** Kubernetes refuses a prefix with these, because proxies read them in different ways. */
const REFUSED_IN_PATHS = /\/\/|\/\.{1,2}(?:\/|$)|%2f/i;

function pathProblems({ name, spec: { ingress }, at }: Judging): AppProblem[] {
  if (!REFUSED_IN_PATHS.test(ingress?.path ?? "/")) return [];
  const message = `Component ${name} has ${ingress?.path} in workload_spec.ingress.path, which Kubernetes does not take: no step is empty, . or .., and none has %2f.`;
  return [problem("InvalidPath", [...at, "ingress", "path"], message)];
}

/** The host with the path of an ingress. A slash at the end makes no difference, so the same address has one spelling. */
export const ingressAddress = ({ host, path = "/" }: NonNullable<Workload["ingress"]>): string =>
  `${host}${path.replace(/(?<=.)\/+$/, "")}`;

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

/** A ConfigMap holds 1 MiB, and an app as a whole has to fit into one object of the cluster's store. */
const MOST_FILE_BYTES = 256 * 1024;
/** The name of the volume in which the operator mounts the files. */
const FILES_VOLUME = "binnacle-files";

/** `/data//x/./y/` is mounted where `/data/x/y` is. */
function normal(path: string): string {
  const steps: string[] = [];
  for (const step of path.split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  return `/${steps.join("/")}`;
}

const isInside = (path: string, outer: string): boolean => path.startsWith(`${outer}/`);

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/**
 * Returns the problems of the files of a workload. A file within a volume is a mount within a mount, which works. A file has
 * nothing inside it, neither another file nor a volume.
 */
function fileProblems(
  component: string,
  { files = [], volumes = [] }: Pick<WorkloadSpec, "files" | "volumes">,
  at: Path,
): AppProblem[] {
  const paths = files.map(({ path }) => path);
  const mounts = volumes.map(({ mount_path }) => normal(mount_path));
  const bytes = files.reduce((sum, { content = "" }) => sum + bytesOf(content), 0);
  const named = volumes.findIndex(({ name }) => name === FILES_VOLUME);
  const wrong = (place: Path, message: string) => problem("InvalidFile", [...at, ...place], message);
  return [
    ...paths.flatMap((path, index): AppProblem[] => {
      const place = ["files", index, "path"];
      const file = `Component ${component} has the file ${path} in workload_spec.files`;
      if (paths.indexOf(path) < index) return [wrong(place, `${file} twice.`)];
      const outer = paths.find((other) => isInside(path, other));
      if (outer !== undefined) return [wrong(place, `${file}, but ${outer} is a file, so nothing can be inside it.`)];
      const mount = mounts.find((other) => other === path || isInside(other, path));
      return mount === undefined ? [] : [wrong(place, `${file}, but a volume is mounted at ${mount}.`)];
    }),
    ...(bytes > MOST_FILE_BYTES
      ? [
          wrong(
            ["files"],
            `The files of component ${component} hold ${Math.ceil(bytes / 1024)} KiB together; they may hold at most 256 KiB.`,
          ),
        ]
      : []),
    ...(files.length > 0 && named >= 0
      ? [
          wrong(
            ["volumes", named, "name"],
            `Component ${component} has a volume ${FILES_VOLUME}, which is the name of the volume that holds its files.`,
          ),
        ]
      : []),
  ];
}
