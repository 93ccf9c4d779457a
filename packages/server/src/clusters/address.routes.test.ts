import { startWorld } from "@binnacle/world";
import { afterAll, expect, test } from "vitest";
import { originOf } from "../config.ts";
import { registeredCluster } from "./clusters.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api", BINNACLE_PORT: "0" } });
afterAll(() => world.stop());

test("[CL58] without a public address, every printed address has the port that the server listens on", async () => {
  const org = await world.org();
  const { id, install_command } = await registeredCluster(world.admin.api, org);
  const hub = `${world.url.replace("http", "ws")}/hub/v1`;
  expect(install_command).toContain(`--repo ${world.url}/charts `);
  expect(install_command).toContain(`hub.url=${hub}`);
  expect((await world.admin.api.get(`/clusters/${id}/install-instructions`)).body).toMatchObject({
    hub_url: hub,
    chart_ref: expect.stringContaining(`${world.url}/charts/`),
    docs_url: `${world.url}/charts/README.md`,
  });
  const minted = (await world.admin.api.post(`/clusters/${id}/agent-credentials`)).body;
  expect(minted.agent_jwt.hub_url).toBe(hub);
  expect((await world.admin.api.post(`/clusters/${id}/rotate-token`)).body.install_command).toContain(hub);
  const device = await world.anyone.post("/auth/cli/device", {
    requested_scopes: ["clusters:read"],
    client_name: "cli",
  });
  expect(device.body.verification_uri).toBe(`${world.url}/device`);
  const index = await fetch(`${world.url}/charts/index.yaml`);
  expect(index.status).toBe(200);
});

test.each([
  ["127.0.0.1", "http://127.0.0.1:8080"],
  ["0.0.0.0", "http://127.0.0.1:8080"],
  ["::", "http://[::1]:8080"],
  ["::1", "http://[::1]:8080"],
])("[CL58] a server that listens on %s is reached at %s", (address, origin) => {
  expect(originOf({ address, port: 8080 }, "http")).toBe(origin);
});
