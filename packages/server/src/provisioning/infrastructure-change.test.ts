import { describe, expect, test } from "vitest";
import type { ReadPlan } from "../tofu/tofu-output.ts";
import { build, destroy, type Steps } from "./infrastructure-change.runner.ts";
import type { ProvisioningJob } from "./provisioning.ts";
import { RunFailed } from "./provisioning-run.ts";
import { NO_LOCAL_DATA } from "./volumes.ts";

const CHANGED = new RunFailed({ code: "plan_changed", message: "It is another plan." });
const JOB = { action: "scale", dry_run: false, force: false, node: null, plan: null, plan_job_id: "p" } as const;
const PLAN: ReadPlan = {
  summary: { add: 0, change: 0, remove: 1 },
  changes: [{ action: "delete", address: 'aws_instance.agent["agent-2"]', type: "aws_instance", id: "i-2" }],
  updates: {},
  steps: 1,
};
const DISK = { type: "volume", id: "vol-1", address: null, data: { claim: "shop/data" } };

/** Steps that note what they are asked for. */
function notingSteps(refuses: boolean) {
  const calls: string[] = [];
  const note = (name: string) => async () => void calls.push(name);
  const steps: Steps = {
    operator: {
      drain: note("drain"),
      localVolumes: async () => NO_LOCAL_DATA,
      describeDisks: async () => [],
      removeCloudObjects: note("remove objects of Kubernetes"),
    },
    survey: async () => ({ existing: calls.includes("apply") ? [] : [DISK], known: null }),
    nodesToReplace: async () => [],
    keep: note("keep"),
    plan: async () => PLAN,
    import: note("import"),
    async confirm() {
      calls.push("confirm");
      if (refuses) throw CHANGED;
    },
    store: note("store"),
    apply: note("apply"),
    remove: async (resources) => void (resources.length > 0 && calls.push("remove")),
    writeLog: async () => undefined,
  };
  return { calls, steps };
}

const run = (job: Partial<ProvisioningJob>, steps: Steps) => {
  const wanted = { job: { ...JOB, ...job } as ProvisioningJob, cluster: { first_connected_at: new Date(0) } };
  return job.action === "destroy" ? destroy(wanted, steps) : build({ ...wanted, controlPlane: "cp" }, steps);
};

describe("a job that is bound to a plan", () => {
  test.each(["scale", "replace", "destroy"] as const)(
    "[PN171] a %s whose plan has changed fails before anything is drained, removed or applied",
    async (action) => {
      const { calls, steps } = notingSteps(true);
      await expect(run({ action }, steps)).rejects.toBe(CHANGED);
      expect(calls).toEqual(["confirm"]);
    },
  );

  test("[PN171] one whose plan is the same is compared first and goes on as always", async () => {
    const scaled = notingSteps(false);
    await run({ action: "scale" }, scaled.steps);
    expect(scaled.calls).toEqual(["confirm", "drain", "store", "apply"]);
    const gone = notingSteps(false);
    await run({ action: "destroy" }, gone.steps);
    expect(gone.calls).toEqual(["confirm", "remove objects of Kubernetes", "store", "apply"]);
  });
});
