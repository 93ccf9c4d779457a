import { expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { componentsIn, releaseComponents } from "./app-components.ts";

const APP: KubeObject = {
  apiVersion: "binnacle.dev/v1alpha1",
  kind: "App",
  metadata: { name: "shop", namespace: "market" },
  spec: {
    components: [
      { name: "web", type: "workload", workload_spec: { image: "nginx" } },
      { name: "cache", type: "chart", release: { chart: { repo: "https://charts.example.com", name: "valkey" } } },
      { name: "queue", type: "addon", release: { chart: { repo: "https://charts.example.com", name: "nats" } } },
      { name: "db", type: "addon", addon_instance: "main" },
    ],
  },
};

test("[TE11] a component is a workload, a release of its own, or that of the addon instance it stands for", () => {
  expect(componentsIn(APP)).toEqual([
    { name: "web", release: null },
    { name: "cache", release: { namespace: "market", name: "shop-cache", owner: "app.shop.cache" } },
    { name: "queue", release: { namespace: "market", name: "shop-queue", owner: "app.shop.queue" } },
    { name: "db", release: { namespace: "market", name: "main", owner: "addon" } },
  ]);
});

test("[TE34] components that run as releases are listed with their pods once the releases are known", () => {
  const pods = { release: "main", makers: [] };
  const known = releaseComponents([APP], ({ name }) => (name === "main" ? pods : null));
  expect(known).toEqual([{ namespace: "market", app: "shop", component: "db", pods }]);
});
