import type { Answer } from "@binnacle/client";
import { arg, type Command, command, inOrg, isTable, send, verb } from "../command.ts";
import { EXIT } from "../host.ts";
import { column, stateColumn, view } from "../output.ts";

const STATUS = view<Answer<"getClusterGitops">>(
  "cluster_id",
  stateColumn("STATE", "state"),
  { title: "HEAD", of: ({ head }) => head?.id.slice(0, 12) ?? null },
  { title: "REVISION", of: ({ head }) => head && String(head.revision) },
  { title: "PENDING", of: ({ pending }) => String(pending.changes) },
  { title: "SINCE", of: ({ pending }) => pending.since },
  { title: "ERROR", of: ({ error }) => error && { text: error.message, tone: "bad" } },
  column("SEEN", "observed_at"),
  column("FOREIGN HEAD", "foreign_head", true),
  column("REPOSITORY", "url"),
  column("BRANCH", "branch", true),
);

export const GITOPS_COMMANDS: readonly Command[] = [
  verb("getClusterGitops", "gitops status <cluster>", "Show how far a cluster's state has been written to Git", {
    fields: [arg("<cluster>", "id", "cluster")],
    view: STATUS,
  }),
  command("testGitops", "gitops test", "Test the Git host of an organization", {
    fields: [inOrg("id")],
    takesFile: true,
    async run(call, { input }) {
      const test = await send(call, "testGitops", input);
      if (!isTable(call)) call.show(null, test);
      for (const { code, message } of test.problems) call.info(`${code}: ${message}`);
      for (const { fingerprint, type } of test.host_keys) call.info(`The host shows ${type} ${fingerprint}`);
      if (test.ok) call.info("The Git host can be used.");
      return test.ok ? EXIT.ok : EXIT.failed;
    },
  }),
];
