import { beforeEach, describe, expect, inject, test } from "vitest";
import { appWorld, workload } from "./app-world.fixture.ts";

/** The images are those of test/kube/node. Only a real kubelet restarts containers and pulls images. */
describe.skipIf(inject("isSimulated"))("an app on a real node", { timeout: 120_000 }, () => {
  let world: Awaited<ReturnType<typeof appWorld>>;
  beforeEach(async () => {
    world = await appWorld();
    world.apps.start();
    return () => world.stop();
  });

  test("[AO45] an app whose container keeps ending reports CrashLoopBackOff with the exit code, and is not running in between", async () => {
    await world.deploy([workload("web", { image: "crash:1" })]);
    const message = "web: The container web keeps ending with exit code 3; it was restarted 2 times.";
    await world.seen({ reason: "CrashLoopBackOff", message }, 60_000);
    const phases = world.reports.map(({ report }) => ("phase" in report ? report.phase : null));
    const reasons = world.reports.map(({ report }) => ("reason" in report ? report.reason : null));
    expect(phases.slice(reasons.indexOf("CrashLoopBackOff"))).not.toContain("running");
  });

  test("[AO45] an app with a command that does not exist reports it in the words of the container runtime", async () => {
    await world.deploy([workload("web", { command: ["/bin/nothing"] })]);
    const message = expect.stringContaining('exec: "/bin/nothing": stat /bin/nothing: no such file or directory');
    await world.seen({ phase: "deploying", reason: "StartError", message }, 60_000);
  });

  test("[AO45] an app with a Job that fails reports the exit code", async () => {
    await world.deploy([workload("migrate", { kind: "job", image: "crash:1" })]);
    const message = expect.stringContaining("exit code 3");
    await world.seen({ phase: "deploying", message }, 60_000);
  });

  test("[AO45] an app with an image that cannot be pulled reports it once, though the kubelet words it in two ways", async () => {
    await world.deploy([workload("web", { image: "localhost:1/nobody/has:1" })]);
    await world.seen({ phase: "deploying", reason: "ImagePullBackOff" }, 60_000);
    const messages = new Set(world.reports.map(({ report }) => ("message" in report ? report.message : null)));
    expect([...messages].filter((text) => text?.includes("cannot be pulled"))).toHaveLength(1);
  });
});
