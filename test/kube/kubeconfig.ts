import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Writes the kubeconfig of a user who has a certificate in the folder's `pki`, and tells where. */
export async function writeKubeconfig(folder: string, user: string, server: string): Promise<string> {
  const base64 = async (name: string) => (await readFile(join(folder, "pki", name))).toString("base64");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server, "certificate-authority-data": await base64("ca.crt") } }],
    users: [
      {
        name: user,
        user: {
          "client-certificate-data": await base64(`${user}.crt`),
          "client-key-data": await base64(`${user}.key`),
        },
      },
    ],
    contexts: [{ name: "test", context: { cluster: "test", user } }],
    "current-context": "test",
  };
  const path = join(folder, `${user}.kubeconfig`);
  // JSON is YAML.
  await writeFile(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}
