import { arg, type Command, command, listing, send, verb } from "../command.ts";
import { followJob, jobEnded, showPlan } from "../waiting.ts";
import { JOB } from "./clusters.ts";

const THE_CLUSTER = arg("<cluster>", "id", "cluster");

export const JOB_COMMANDS: readonly Command[] = [
  listing("listProvisioningJobs", "jobs list <cluster>", "List what was provisioned for a cluster, newest first", {
    fields: [THE_CLUSTER],
    view: JOB,
  }),
  verb("getProvisioningJob", "jobs show <id>", "Show a provisioning job", { fields: [arg("<id>", "id")], view: JOB }),
  command("getProvisioningLogs", "jobs logs <id>", "Print the output of a provisioning job", {
    fields: [arg("<id>", "id"), { from: "-f, --follow", kind: "flag", help: "until it has ended" }],
    also: ["getProvisioningJob"],
    run: followJob,
  }),
  command("getProvisioningPlan", "jobs plan <id>", "Show what a provisioning job adds, changes and removes", {
    fields: [arg("<id>", "id")],
    async run(call, { input }) {
      showPlan(call, await send(call, "getProvisioningPlan", input));
    },
  }),
  verb(
    "cancelProvisioningJob",
    "jobs cancel <id>",
    "Stop a provisioning job after the resource that it is working on",
    {
      fields: [arg("<id>", "id")],
      confirm: "Cancel the job {id}? What it has made so far stays; a retry continues from there.",
      done: ({ id, status }) =>
        status === "running"
          ? `It stops after the resource that it is working on. Wait for that with: binnacle jobs wait ${id}`
          : "It had not begun, and does not run.",
      view: JOB,
    },
  ),
  command("getProvisioningJob", "jobs wait <id>", "Wait for a provisioning job", {
    fields: [arg("<id>", "id"), { from: "--timeout <duration>", help: "how long", preset: "1h" }],
    run: jobEnded,
  }),
  verb("retryProvisioningJob", "jobs retry <id>", "Try a failed job again, from where it stopped", {
    fields: [arg("<id>", "id")],
    view: JOB,
  }),
];
