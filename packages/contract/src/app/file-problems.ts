import type { WorkloadSpec } from "../component.ts";
import { type AppProblem, problem } from "./problem.ts";

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
export function fileProblems(
  component: string,
  { files = [], volumes = [] }: Pick<WorkloadSpec, "files" | "volumes">,
  at: AppProblem["path"],
): AppProblem[] {
  const paths = files.map(({ path }) => path);
  const mounts = volumes.map(({ mount_path }) => normal(mount_path));
  const bytes = files.reduce((sum, { content = "" }) => sum + bytesOf(content), 0);
  const named = volumes.findIndex(({ name }) => name === FILES_VOLUME);
  const wrong = (place: AppProblem["path"], message: string) => problem("InvalidFile", [...at, ...place], message);
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
