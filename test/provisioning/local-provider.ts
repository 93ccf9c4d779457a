import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CloudProvider, CloudResource } from "../../packages/server/src/cloud/provider.ts";
import { agentNames } from "../../packages/server/src/provisioning/provisioning-run.ts";

const MODULE = fileURLToPath(new URL("./local", import.meta.url));

/** The file appears whole or not at all. */
const CREATE = `[ "$LOCAL_FAILS" = "$3" ] && { echo "no room for $3 $LOCAL_SECRET" >&2; exit 1; }
sleep "$LOCAL_SECONDS"
printf '%s' "$3" > "$LOCAL_CLOUD/.new-$2"
mv "$LOCAL_CLOUD/.new-$2" "$LOCAL_CLOUD/$1/$2"
sleep "$LOCAL_SECONDS"
`;
const DELETE = `sleep "$LOCAL_SECONDS"
rm -f "$LOCAL_CLOUD"/*/"$1"
sleep "$LOCAL_SECONDS"
`;

/** A folder in the place of a cloud. */
export interface LocalCloud {
  readonly folder: string;
  /** What exists of a cluster: addresses and ids, sorted by address. */
  list(clusterId: string): Promise<{ address: string; id: string }[]>;
  /** Makes a resource that no state knows of. The address `disk`, with a claim after it or not, is a disk that Kubernetes made. */
  add(clusterId: string, id: string, address: string): Promise<void>;
}

export async function localCloud(): Promise<LocalCloud> {
  const folder = await mkdtemp(join(tmpdir(), "cloud-"));
  await writeFile(join(folder, "create"), CREATE);
  await writeFile(join(folder, "delete"), DELETE);
  return {
    folder,
    list: (clusterId) => list(folder, clusterId),
    async add(clusterId, id, address) {
      await mkdir(join(folder, clusterId), { recursive: true });
      await writeFile(join(folder, clusterId, id), address);
    },
  };
}

async function list(folder: string, clusterId: string) {
  const place = join(folder, clusterId);
  await mkdir(place, { recursive: true });
  const found = await Promise.all(
    (await readdir(place)).map(async (id) => ({ id, address: await readFile(join(place, id), "utf8") })),
  );
  return found.sort((a, b) => a.address.localeCompare(b.address) || a.id.localeCompare(b.id));
}

export interface LocalOptions {
  readonly folder: string;
  readonly seconds?: number;
  /** The address of a resource that cannot be made. */
  readonly fails?: string;
  /** The ids that cannot be removed. */
  readonly stuck?: readonly string[];
}

/** The provider port over a folder. It keeps what `aws` promises, so the port is proven twice. */
export function localProvider({ folder, seconds = 0.05, fails = "", stuck = [] }: LocalOptions): CloudProvider {
  return {
    module: MODULE,
    variables: ({ id, agentCount, nodeTokens }) => ({
      cluster_id: id,
      agents: agentNames(0, agentCount),
      node_tokens: nodeTokens,
    }),
    machineAddress: (node) =>
      node === "control-plane" ? "terraform_data.control_plane" : `terraform_data.agent["${node}"]`,
    environment: ({ secret_access_key = "" }) => ({
      LOCAL_CLOUD: folder,
      LOCAL_SECONDS: String(seconds),
      LOCAL_FAILS: fails,
      LOCAL_SECRET: secret_access_key,
    }),
    async existing(_access, clusterId) {
      const found = await list(folder, clusterId);
      return found.map(({ id, address }): CloudResource => {
        const isOfModule = address.startsWith("terraform_data.");
        const [, claim = null] = /^disk(?: (.+))?$/.exec(address) ?? [];
        if (address.startsWith("disk")) return { type: "volume", id, address: null, data: { claim } };
        return { type: isOfModule ? "terraform_data" : address, id, address: isOfModule ? address : null };
      });
    },
    async remove(_access, resources) {
      for (const { id } of resources.filter((resource) => !stuck.includes(resource.id))) {
        for (const cluster of await readdir(folder))
          await rm(join(folder, cluster, id), { force: true }).catch(() => undefined);
      }
    },
    newestSnapshot: async (_access, clusterId, bucket) => {
      const [name] = await readdir(join(folder, `bucket-${bucket}-${clusterId}`)).catch(() => []);
      return name ? { name, takenAt: "2026-11-19T08:00:00.000Z" } : null;
    },
    check: async () => ({ identity: "local", permissions: [], quotas: [] }),
    failureOf: (diagnostics) => ({
      code: diagnostics.some(({ detail }) => detail.includes("no room")) ? "no_capacity" : "failed",
      message: diagnostics.map(({ summary, detail }) => `${summary} ${detail}`).join(" "),
    }),
    estimate: ({ instanceType, agentCount }) => ({
      monthly: 10 * (1 + agentCount),
      currency: "USD",
      prices_of: "2026-11-01",
      note: "Prices of a folder.",
      items: [{ name: instanceType, count: 1 + agentCount, monthly: 10 }],
    }),
  };
}
