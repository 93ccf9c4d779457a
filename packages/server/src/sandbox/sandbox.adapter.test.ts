import { expect, test } from "vitest";
import { parseConfig } from "../config.ts";
import { sandboxVariables, waitForConnection } from "./sandbox.adapter.ts";

const OF_CLUSTER = { clusterId: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11", token: "<TOKEN>" };

test("[SB11] the program of BINNACLE_HELM is passed on to the operator, which advises to name one", () => {
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

const never = () => false;

test("[ST5] the sandbox is waited for until it is connected", async () => {
  let looks = 0;
  const isConnected = () => ++looks === 3;
  expect(await waitForConnection(isConnected, never, 60_000)).toBe("connected");
  expect(looks).toBe(3);
});

test("[ST5] a sandbox that does not connect is waited for until the limit, and one that has ended no longer", async () => {
  expect(await waitForConnection(never, never, 100)).toBe("late");
  expect(await waitForConnection(never, () => true, 60_000)).toBe("ended");
});
