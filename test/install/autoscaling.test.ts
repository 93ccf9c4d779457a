import { expect, test } from "vitest";
import { kubectlJson } from "./node.ts";
import { Project } from "./project.ts";

test("[IS2316] an app that scales by itself gets more replicas under load, and says how many are ready", async () => {
  const project = await Project.open("scale");
  await project.createOne("busy", {
    image: "page:1",
    ports: [{ name: "http", port: 8080 }],
    resources: { requests: { cpu: "50m", memory: "16Mi" } },
    probes: { readiness: { path: "/", port: 8080, period_seconds: 1 } },
    autoscale: { min: 1, max: 2, cpu_percent: 50 },
  });
  await project.reaches("busy", { phase: "running", components_status: [{ ready: 1 }] });
  const url = await project.urlOf("busy-web");
  let isOver = false;
  const load = (async () => {
    while (!isOver) expect(await (await fetch(`${url}/cgi-bin/burn`)).text()).toBe("done\n");
  })();
  try {
    await project.reaches("busy", { phase: "running", components_status: [{ ready: 2 }] });
  } finally {
    isOver = true;
    await load;
  }
  const autoscaler = ["--namespace", "scale", "get", "horizontalpodautoscaler", "busy-web"];
  const { status } = await kubectlJson<{ status: object }>(...autoscaler);
  expect(status).toMatchObject({ desiredReplicas: 2 });
});
