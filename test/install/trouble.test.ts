import { beforeAll, expect, test, vi } from "vitest";
import { Project, SOON } from "./project.ts";

const shellOf = (script: string) => ({ image: "page:1", command: ["/bin/sh", "-c", script] });
const PROBE = { path: "/nothing-is-here", port: 8080, period_seconds: 1, failure_threshold: 1 };
let project: Project;

/** All at once, because each takes its time until the kubelet knows. */
beforeAll(async () => {
  project = await Project.open("trouble");
  await project.createOne("missing", { image: "images.example/none:1" });
  await project.createOne("looping", shellOf("echo it breaks >&2; exit 3"));
  const resources = { limits: { memory: "32Mi" } };
  await project.createOne("hungry", { ...shellOf("a=aaaaaaaa; while :; do a=$a$a; done"), resources });
  await project.createOne("unready", { image: "page:1", probes: { readiness: PROBE } });
  await project.createOne("unhealthy", { image: "page:1", probes: { liveness: PROBE } });
});

const statusOf = async (app: string) => (await project.api.get(project.path(app))).body;

test("[IS5] an app whose image the node cannot pull says so while it waits", async () => {
  await project.reaches("missing", { phase: "deploying", phase_reason: "ImagePullBackOff" });
});

test("[IS2315] an app whose container ends at once is in a crash loop with its exit code, and is at no time running afterwards", async () => {
  await project.reaches("looping", { phase_reason: "CrashLoopBackOff" });
  const seen = new Set<string>();
  await vi.waitFor(async () => {
    const { phase, phase_message, components_status } = await statusOf("looping");
    seen.add(phase);
    expect(phase_message).toContain("exit code 3");
    expect(components_status[0].restarts).toBeGreaterThan(1);
  }, SOON);
  expect([...seen]).not.toContain("running");
  const logs = await project.api.follow(project.path("looping", "/logs", "&component=web&follow=false"));
  await logs.until(({ data }) => JSON.stringify(data).includes("it breaks"));
  logs.leave();
});

test("[IS2315] an app that needs more memory than its limit is told to be killed for it", async () => {
  await project.reaches("hungry", {
    // It may have been ready for a moment before it was killed first, and is degraded then.
    phase: expect.stringMatching(/^(deploying|degraded)$/),
    phase_reason: "OOMKilled",
    phase_message: "web: The container web needs more memory than its limit and is killed.",
    components_status: [{ reason: "OOMKilled", ready: 0 }],
  });
});

test("[IS2315] an app whose readiness probe fails is not running, and says that it is the probe", async () => {
  await project.reaches("unready", {
    phase: "deploying",
    phase_reason: "ProbeFailing",
    components_status: [{ ready: 0 }],
  });
});

test("[IS2315] an app that its liveness probe has killed again and again is not running, and says that its container keeps ending", async () => {
  await vi.waitFor(async () => {
    const body = await statusOf("unhealthy");
    expect(body.components_status[0].restarts).toBeGreaterThan(2);
    expect(body).toMatchObject({ phase: expect.not.stringMatching("running"), phase_reason: "CrashLoopBackOff" });
  }, SOON);
});
