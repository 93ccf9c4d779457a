import { accessSync, constants, existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

/** The programs that the module is tested with. `build.sh` builds or installs them. */
export interface Tools {
  readonly tofu: string;
  readonly provider: string;
  readonly moto: string;
}

const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "binnacle");
const kube = process.env["BINNACLE_KUBE_BIN"] ?? join(cache, "kube", "bin");

function onPath(name: string): string | null {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const first = (...candidates: readonly (string | null | undefined)[]) =>
  candidates.find((candidate) => candidate && existsSync(candidate)) ?? null;

/** The tools, or the names of those that are missing. */
export function findTools(): Tools | readonly string[] {
  const tofu = first(process.env["BINNACLE_TOFU"], join(kube, "tofu"), onPath("tofu"));
  const provider = first(process.env["BINNACLE_AWS_PROVIDER"], join(kube, "terraform-provider-aws"));
  const moto = first(process.env["BINNACLE_MOTO"], join(cache, "moto", "bin", "moto_server"), onPath("moto_server"));
  const missing = Object.entries({ OpenTofu: tofu, "terraform-provider-aws": provider, moto })
    .filter(([, path]) => path === null)
    .map(([name]) => name);
  return tofu && provider && moto ? { tofu, provider, moto } : missing;
}

export function requiredTools(): Tools {
  const tools = findTools();
  if ("tofu" in tools) return tools;
  throw new Error(`Run test/tofu/build.sh: ${tools.join(", ")} is missing.`);
}

/** A program that is used if it is there, such as `shellcheck`. */
export const optionalTool = (name: string) => first(join(kube, name), onPath(name));

/** The schema of cloud-init's configuration, or null where it is not there. */
export const cloudInitSchema = () => first(join(cache, "cloud-init", "schema.json"));
