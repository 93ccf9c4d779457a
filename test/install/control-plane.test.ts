import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, inject, test } from "vitest";
import { NAMESPACE } from "./installation.ts";
import { folderOf, kubectl, kubectlJson } from "./node.ts";
import type {} from "./setup.ts";

interface Pods {
  readonly items: readonly {
    readonly status: {
      readonly containerStatuses: readonly {
        readonly ready: boolean;
        readonly image: string;
        readonly imageID: string;
        readonly restartCount: number;
      }[];
    };
  }[];
}
const containers = async (namespace: string, selector: string) => {
  const { items } = await kubectlJson<Pods>("--namespace", namespace, "get", "pods", "--selector", selector);
  return items.flatMap(({ status }) => status.containerStatuses);
};
const component = (name: string) => containers(NAMESPACE, `app.kubernetes.io/component=${name}`);

test("[IS1] two pods of each component are ready within a minute of helm install, in a namespace that enforces restricted pods", async () => {
  for (const name of ["api", "hub", "worker"]) {
    const states = (await component(name)).map(({ ready, restartCount }) => [ready, restartCount]);
    expect([name, ...states]).toEqual([name, [true, 0], [true, 0]]);
  }
  expect(inject("installed").timesMs.ready).toBeLessThan(60_000);
});

test("[IS2] the printed command installs the operator, whose image the node pulls from the control plane by its digest", async () => {
  const { host } = new URL(inject("installed").url);
  const images = (await containers("binnacle-system", "app.kubernetes.io/name=binnacle-operator")).map(
    ({ imageID }) => imageID,
  );
  expect(images).toEqual([expect.stringMatching(new RegExp(`^${host}/binnacle/operator@sha256:[a-f0-9]{64}$`))]);
  expect(inject("installed").timesMs.connected).toBeLessThan(60_000);
});

test("[IS3] an app runs three minutes after nothing at the latest, the import of the images included", () => {
  const total = Object.values(inject("installed").timesMs).reduce((sum, ms) => sum + ms, 0);
  expect(total).toBeLessThan(180_000);
});

test("[IS2308] the control plane serves its release's images from the image that the API runs from, without a volume", async () => {
  const images = await Promise.all(["api", "hub"].map(async (name) => (await component(name))[0]?.image));
  expect(images).toEqual([expect.stringMatching(/binnacle\/registry/), expect.stringMatching(/binnacle\/server/)]);
  const { url } = inject("installed");
  for (const name of ["server", "operator", "cli", "charts/binnacle"]) {
    const answer = await fetch(`${url}/v2/binnacle/${name}/tags/list`);
    expect([name, answer.status]).toEqual([name, 200]);
  }
});

test("[IS2319] the scheduled backup of the chart runs and leaves the newest file on its volume", async () => {
  const backUp = async (name: string) => {
    await kubectl("--namespace", NAMESPACE, "create", "job", name, "--from=cronjob/binnacle-backup");
    await kubectl("--namespace", NAMESPACE, "wait", "--for=condition=Complete", `job/${name}`, "--timeout=60s");
  };
  await backUp("first");
  const folder = await folderOf(NAMESPACE, "backups");
  const [first = "", ...others] = readdirSync(folder);
  expect([first, others]).toEqual([expect.stringMatching(/^binnacle-\d{8}T\d{6}Z\.gz$/), []]);
  expect(gunzipSync(readFileSync(join(folder, first))).toString("utf8")).toContain("admin@example.com");
  await backUp("second");
  expect(readdirSync(folder)).toEqual([expect.not.stringContaining(first)]);
});
