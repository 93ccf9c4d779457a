import { lockedFolder, ociRegistry, serve, type WebServer } from "@binnacle/charts/fixture";
import { afterEach, describe, expect, test } from "vitest";
import { type AddonWorld, addonWorld } from "../addon/addon-world.fixture.ts";
import { fieldsIn } from "../kube/object-fields.ts";
import { tinyChart } from "./chart.fixture.ts";
import { HELM } from "./helm-program.fixture.ts";

const login = { username: "robot", password: "s3cret-of-the-repository" };
const READY = { phase: "ready", reason: "ReleaseReady" };
const INDEX = "entries:\n  tiny:\n  - { version: 1.0.0, urls: [tiny.tgz] }\n";

describe.skipIf(!HELM)("a private chart on a cluster", { timeout: 120_000 }, () => {
  let world: AddonWorld | undefined;
  let servers: WebServer[] = [];
  afterEach(async () => {
    await world?.stop();
    for (const server of servers) server.stop();
    servers = [];
  });

  async function served(answer: Parameters<typeof serve>[0]): Promise<WebServer> {
    const server = await serve(answer);
    servers.push(server);
    return server;
  }

  /** All that anybody could have seen of the work. */
  async function everything({ helm, logged, reports }: AddonWorld): Promise<string> {
    return JSON.stringify([await helm.calls(), logged, reports]);
  }

  test("[CS9] [CS10] a private chart is installed by the real Helm, from a Helm repository and from an OCI registry", async () => {
    const folder = await served(lockedFolder(login, { "/index.yaml": INDEX, "/tiny.tgz": tinyChart().archive }));
    const registry = await served(ociRegistry({ name: "tiny", tags: { "1.0.0": tinyChart() }, login }));
    const oci = registry.url.replace(/^http/, "oci");
    world = await addonWorld({ credentials: [folder.url, oci].map((url) => ({ url, ...login })) });

    await world.tell({ color: "blue" }, { chart: { repo: folder.url, name: "tiny", version: "1.0.0" } });
    await world.seen(READY);
    await world.tell({ color: "green" }, { chart: { repo: `${oci}/charts`, name: "tiny", version: "1.0.0" } });
    await world.seen(READY);
    expect(fieldsIn((await world.get("v1", "ConfigMap", "db-tiny"))?.["data"])["color"]).toBe("green");
    expect(await everything(world)).not.toContain(login.password);
    expect(await world.helm.leftovers()).toEqual([]);
  });

  test("[CS4] a chart whose values schema refers to an address is installed without a request to that address", async () => {
    const bait = await served((_request, response) => response.writeHead(404).end());
    const schema = JSON.stringify({ $ref: `${bait.url}/schema.json` });
    const { archive } = tinyChart({ "values.schema.json": schema });
    const folder = await served(lockedFolder(login, { "/index.yaml": INDEX, "/tiny.tgz": archive }));
    world = await addonWorld({ credentials: [{ url: folder.url, ...login }] });
    await world.tell({ color: "blue" }, { chart: { repo: folder.url, name: "tiny", version: "1.0.0" } });
    await world.seen(READY);
    expect(bait.asked).toEqual([]);
  });

  test("[CS2] a chart at the address of the cloud's metadata service is refused, and Helm is not started", async () => {
    world = await addonWorld();
    await world.tell({ color: "blue" }, { chart: { repo: "https://169.254.169.254/latest", name: "tiny" } });
    await world.seen({ phase: "failed" });
    expect(world.reports.at(-1)).toMatchObject({
      message: expect.stringContaining("The chart repository 169.254.169.254 is refused"),
    });
    expect(await world.helm.calls()).toEqual([]);
  });
});
