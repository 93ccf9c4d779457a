import { posix } from "node:path";
import type { ValidationItem, WorkloadSpec } from "@binnacle/contract";

type Loc = ValidationItem["loc"];

/** A ConfigMap holds 1 MiB, and an app as a whole has to fit into one object of the cluster's store. */
const MOST_FILE_BYTES = 256 * 1024;
/** The name of the volume in which the operator mounts the files. */
const FILES_VOLUME = "binnacle-files";

const wrong = (loc: Loc, msg: string): ValidationItem => ({ loc, msg, type: "value_error" });

/** `/data//x/` is mounted where `/data/x` is. */
const normal = (path: string): string => posix.normalize(path).replace(/(?<=.)\/$/, "");

const isInside = (path: string, outer: string): boolean => path.startsWith(`${outer}/`);

/**
 * Returns the problems of the files of a workload. A file within a volume is a mount within a mount, which works. A file has
 * nothing inside it, neither another file nor a volume.
 */
export function fileProblems({ files = [], volumes = [] }: WorkloadSpec, loc: Loc): ValidationItem[] {
  const paths = files.map(({ path }) => path);
  const mounts = volumes.map(({ mount_path }) => normal(mount_path));
  const bytes = files.reduce((sum, { content = "" }) => sum + Buffer.byteLength(content), 0);
  const named = volumes.findIndex(({ name }) => name === FILES_VOLUME);
  return [
    ...paths.flatMap((path, index): ValidationItem[] => {
      const at = [...loc, "files", index, "path"];
      if (paths.indexOf(path) < index) return [wrong(at, "Values must be unique")];
      const outer = paths.find((other) => isInside(path, other));
      if (outer !== undefined) return [wrong(at, `${outer} is a file, so nothing can be inside it`)];
      const mount = mounts.find((other) => other === path || isInside(other, path));
      return mount === undefined ? [] : [wrong(at, `A volume is mounted at ${mount}`)];
    }),
    ...(bytes > MOST_FILE_BYTES
      ? [wrong([...loc, "files"], `Files hold at most 256 KiB together, and these hold ${Math.ceil(bytes / 1024)} KiB`)]
      : []),
    ...(files.length > 0 && named >= 0
      ? [wrong([...loc, "volumes", named, "name"], `${FILES_VOLUME} is the name of the volume that holds the files`)]
      : []),
  ];
}
