import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** A cluster requires these programs. `metrics-server` and `kubectl` are used if they exist. */
const NEEDED = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"];

/** Returns the folder that `build.sh` builds into. */
function cacheFolder(): string {
  return join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "binnacle", "kube", "bin");
}

/** The folder with the programs of a cluster, or null when they are nowhere. */
export function binaryFolder(): string | null {
  const given = process.env["BINNACLE_KUBE_BIN"];
  const folder = given ?? cacheFolder();
  const missing = NEEDED.filter((name) => !existsSync(join(folder, name)));
  if (missing.length === 0) return folder;
  if (given) throw new Error(`BINNACLE_KUBE_BIN names ${given}, which lacks ${missing.join(", ")}.`);
  return null;
}
