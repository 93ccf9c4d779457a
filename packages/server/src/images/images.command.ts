import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import type { Env } from "@binnacle/process";
import { SETTINGS } from "../config/variables.ts";
import { exportImage } from "./image-export.adapter.ts";
import { pushImages } from "./image-push.adapter.ts";
import { type ImageStore, openImageStore } from "./image-store.adapter.ts";
import { registryClient } from "./registry-client.adapter.ts";
import { registryCredential } from "./registry-credential.ts";

const USAGE = `Say which:
  binnacle-server images list
  binnacle-server images export <server | registry | operator | cli> [--registry <host>] | ctr --namespace k8s.io images import -
  binnacle-server images push <registry>[/<prefix>] [--insecure]`;

/** `binnacle-server images` works on the folder of BINNACLE_IMAGES_DIR. It takes nothing else of the configuration, so that it runs anywhere. */
export async function runImages(args: readonly string[]): Promise<void> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { registry: { type: "string" }, insecure: { type: "boolean", default: false } },
  });
  const imagesDir = process.env[SETTINGS.imagesDir.name];
  if (!imagesDir) throw new Error("Set BINNACLE_IMAGES_DIR to the folder that `npm run images` has written.");
  const store = await openImageStore(imagesDir);
  const [action, subject = ""] = positionals;
  if (action === "list") process.stdout.write(listed(store));
  else if (action === "export")
    await exported(store, subject, values.registry ?? process.env[SETTINGS.imageRegistry.name] ?? null);
  else if (action === "push" && subject) await pushed(store, subject, values.insecure, process.env);
  else throw new Error(USAGE);
}

const listed = (store: ImageStore) =>
  [...store]
    .flatMap(([name, { tags }]) => [...tags].map(([tag, { digest }]) => `${name}:${tag}  ${digest}\n`))
    .join("");

async function exported(store: ImageStore, image: string, registry: string | null): Promise<void> {
  const name = `binnacle/${image}`;
  const repository = store.get(name);
  if (!repository) throw new Error(USAGE);
  if (process.stdout.isTTY) throw new Error("An image is not written to a terminal. Send it to a file or a program.");
  await pipeline(exportImage(name, repository, registry), process.stdout);
}

/** The destination is what BINNACLE_IMAGE_REGISTRY and the values `image.registry` of the charts name afterwards. */
async function pushed(store: ImageStore, destination: string, isInsecure: boolean, env: Env): Promise<void> {
  const [host = "", ...prefix] = registryOf(destination).split("/");
  const registry = registryClient({
    origin: `${isInsecure ? "http" : "https"}://${host}`,
    credential: registryCredential(host, env, await storedLogins(env)),
  });
  for await (const { name, tags, sentBytes } of pushImages(store, registry, prefix.join("/"))) {
    process.stderr.write(`${host}/${name}: ${sentBytes === 0 ? "is there" : `sent ${megabytes(sentBytes)} MB`}\n`);
    for (const [tag, { digest }] of tags) process.stdout.write(`${host}/${name}:${tag}  ${digest}\n`);
  }
}

function registryOf(destination: string): string {
  try {
    return SETTINGS.imageRegistry.parse(destination);
  } catch (error) {
    throw new Error(`The destination ${(error as Error).message}.`);
  }
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);

/** What `docker login`, `podman login` or `helm registry login` has stored; null where nobody has signed in. */
async function storedLogins({ REGISTRY_AUTH_FILE, DOCKER_CONFIG }: Env): Promise<string | null> {
  const path = REGISTRY_AUTH_FILE || join(DOCKER_CONFIG || join(homedir(), ".docker"), "config.json");
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" && !REGISTRY_AUTH_FILE) return null;
    throw new Error(`${path} cannot be read: ${error.code}.`);
  });
}
