import { once } from "node:events";
import { copyFile } from "node:fs/promises";
import { binaryFolder } from "./binaries.ts";
import { startKube } from "./cluster.ts";

/** A cluster that runs until it is told to end: `node test/kube/serve.ts <file to write the kubeconfig to>`. */
const [, , kubeconfig] = process.argv;
const binaries = binaryFolder();
if (!kubeconfig || !binaries) {
  process.stderr.write(binaries ? "Name the file to write the kubeconfig to.\n" : "Run test/kube/build.sh first.\n");
  process.exit(2);
}
const kube = await startKube({ binaries });
await copyFile(kube.kubeconfigPath, kubeconfig);
process.stdout.write(`KUBECONFIG=${kubeconfig}; logs of the cluster in ${kube.folder}\n`);

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
// Asked twice, it goes on stopping instead of leaving its programs behind.
for (const signal of SIGNALS) process.on(signal, () => undefined);
await Promise.race(SIGNALS.map((signal) => once(process, signal)));
await kube.stop();
