import { expect, test } from "vitest";
import { parseConfig } from "../config.ts";
import { sandboxVariables, waitForConnection } from "./sandbox.adapter.ts";

const OF_CLUSTER = { clusterId: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11", token: "<TOKEN>" };

test("[SB11] the operator of the sandbox gets BINNACLE_HELM and the chart hosts, and not the server's secret key", () => {
  const config = parseConfig({ BINNACLE_HELM: "/opt/helm", BINNACLE_CHART_HOSTS: "charts.local" });
  const variables = sandboxVariables({ ...config, url: "http://127.0.0.1:8080" }, OF_CLUSTER, {
    PATH: "/bin",
    BINNACLE_SECRET_KEY: "hush",
  });
  expect(variables).toMatchObject({
    PATH: "/bin",
    BINNACLE_HELM: "/opt/helm",
    BINNACLE_CHART_HOSTS: "charts.local",
    BINNACLE_HUB_URL: "ws://127.0.0.1:8080/hub/v1",
  });
  expect(JSON.stringify(variables)).not.toContain("hush");
});

test.each([
  [{}, "wss://127.0.0.1:8443/hub/v1", "/own.crt"],
  [{ BINNACLE_PUBLIC_URL: "https://lab.example" }, "wss://lab.example/hub/v1", "/own.crt"],
  [{ NODE_EXTRA_CA_CERTS: "/ca.crt" }, "wss://127.0.0.1:8443/hub/v1", "/ca.crt"],
])("[CF4107] over TLS, with %j, the operator of the sandbox connects to %s and trusts %s", (env, url, trusted) => {
  const config = parseConfig({ BINNACLE_TLS_CERT_FILE: "/own.crt", BINNACLE_TLS_KEY_FILE: "/own.key", ...env });
  const variables = sandboxVariables({ ...config, url: "https://127.0.0.1:8443" }, OF_CLUSTER, env);
  expect(variables).toMatchObject({ BINNACLE_HUB_URL: url, NODE_EXTRA_CA_CERTS: trusted });
});

const never = () => false;

test("[ST5] the server waits for the sandbox until it is connected", async () => {
  let looks = 0;
  const isConnected = () => ++looks === 3;
  expect(await waitForConnection(isConnected, never, 60_000)).toBe("connected");
  expect(looks).toBe(3);
});

test("[ST5] the server waits for a sandbox that does not connect until the limit, and not for one that has ended", async () => {
  expect(await waitForConnection(never, never, 100)).toBe("late");
  expect(await waitForConnection(never, () => true, 60_000)).toBe("ended");
});
