import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";

/** The real node that test/install/run.sh has started, and the programs with which people work on it. */

const run = promisify(execFile);
const required = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; run test/install/run.sh.`);
  return value;
};

export const NODE_DIR = required("NODE_DIR");
/** A folder that `npm run images` has written. */
export const IMAGES = required("BINNACLE_TEST_IMAGES");
/** The machine as pods see it. */
export const HOST = `${process.env["NODE_NET"] ?? "10.213"}.2.1`;
export const BIN =
  process.env["BINNACLE_KUBE_BIN"] ??
  join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "binnacle/kube/bin");
const SERVER = new URL("../../packages/server/src/binnacle-server.command.ts", import.meta.url).pathname;
export const KUBE = {
  ...process.env,
  KUBECONFIG: join(NODE_DIR, "kubeconfig"),
  PATH: `${BIN}:${process.env["PATH"]}`,
  // The machine of a person trusts the company's authority. Helm and kubectl ask for it under this name.
  SSL_CERT_FILE: join(NODE_DIR, "pki/ca.crt"),
};
const LARGEST_OUTPUT_BYTES = 64 * 1024 * 1024;

const ran = async (program: string, args: readonly string[]) =>
  (await run(join(BIN, program), args, { env: KUBE, maxBuffer: LARGEST_OUTPUT_BYTES })).stdout;

export const helm = (...args: readonly string[]): Promise<string> => ran("helm", args);
export const kubectl = (...args: readonly string[]): Promise<string> => ran("kubectl", args);
export const kubectlJson = async <T>(...args: readonly string[]): Promise<T> =>
  JSON.parse(await kubectl(...args, "--output", "json"));

/** Applies objects through the standard input, so that secrets among them are in no argument. */
export const apply = (...items: readonly object[]): Promise<void> =>
  shell("kubectl apply --filename -", JSON.stringify({ apiVersion: "v1", kind: "List", items }));

/** Runs a command line, as a person would who copies it. */
export async function shell(command: string, input = ""): Promise<void> {
  const child = spawn("sh", ["-c", command], { env: KUBE, stdio: ["pipe", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (text) => {
    said += text;
  });
  child.stdin.end(input);
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(said);
}

/** Where the machine has the files of a claim. */
export async function folderOf(namespace: string, claim: string): Promise<string> {
  const { spec } = await kubectlJson<{ spec: { volumeName: string } }>("--namespace", namespace, "get", "pvc", claim);
  const volume = await kubectlJson<{ spec: { hostPath: { path: string } } }>("get", "pv", spec.volumeName);
  return join(NODE_DIR, "volumes", basename(volume.spec.hostPath.path));
}

interface Found {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** Everything on the cluster that has a text in any field, except what tells of the past, and the nodes with the images that they have pulled. */
export async function traces(text: string): Promise<string[]> {
  const types = (await kubectl("api-resources", "--verbs", "list", "--output", "name")).trim().split("\n");
  const asked = types.filter((type) => !/^(events|nodes$)|\.metrics\.k8s\.io$/.test(type)).join(",");
  const { items } = await kubectlJson<{ items: Found[] }>("get", asked, "--all-namespaces", "--ignore-not-found");
  return items
    .filter((item) => JSON.stringify(item).includes(text))
    .map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`);
}

/** Imports an image of a release into the node, as on a machine without a registry; returns its version. */
export function importImage(name: string, registry: string, images = IMAGES): string {
  const socket = join(NODE_DIR, "containerd.sock");
  const env = { PATH: process.env["PATH"], BINNACLE_IMAGES_DIR: images };
  const script = `"$0" "$1" images export "$2" --registry "$3" | ctr --address "$4" --namespace k8s.io images import -`;
  execFileSync("sh", ["-c", script, process.execPath, SERVER, name, registry, socket], { env, stdio: "pipe" });
  const { manifests } = JSON.parse(readFileSync(join(images, name, "index.json"), "utf8"));
  return manifests[0].annotations["org.opencontainers.image.ref.name"];
}
