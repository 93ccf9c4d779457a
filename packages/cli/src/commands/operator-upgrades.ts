import type { Answer, Input } from "@binnacle/client";
import {
  arg,
  type Call,
  type Command,
  command,
  type GivenFor,
  inOrg,
  isTable,
  listing,
  option,
  send,
  verb,
} from "../command.ts";
import { CliError, EXIT, type ExitCode } from "../host.ts";
import { ageColumn, column, stateColumn, view } from "../output.ts";
import { WAIT_FIELDS, waited } from "../waiting.ts";

type Upgrade = Answer<"getOperatorUpgrade">;

const UPGRADED = view<Upgrade["clusters"][number]>(
  "cluster_name",
  column("CLUSTER", "cluster_name"),
  stateColumn("PHASE", "phase"),
  column("FROM", "from_version"),
  column("TO", "to_version"),
  column("REASON", "reason"),
);
const UPGRADE = view<Answer<"listOperatorUpgrades">["data"][number]>(
  "id",
  column("ID", "id"),
  stateColumn("STATUS", "status"),
  column("TO", "to_version"),
  { title: "DONE", of: ({ counts }) => `${counts.succeeded} of ${total(counts)}` },
  { title: "FAILED", of: ({ counts }) => String(counts.returned + counts.failed) },
  ageColumn("AGE", "created_at"),
);

const total = (counts: Upgrade["counts"]) => Object.values(counts).reduce((sum, count) => sum + count, 0);

function show(call: Call, upgrade: Upgrade): void {
  if (!isTable(call)) {
    call.show(null, upgrade);
    return;
  }
  call.list(UPGRADED, upgrade.clusters);
  const { status, to_version, id } = upgrade;
  if (status === "running") call.info(`Follow it with: binnacle clusters upgrades show ${id}`);
  else call.info(`The upgrade to ${to_version} has ended: ${status}.`);
}

/** What an upgrade of all would upgrade, for the question before it. */
async function everyOlder(call: Call, { org_id }: Pick<Input<"startOperatorUpgrade">, "org_id">): Promise<string> {
  const { cluster_count, from_versions, to_version } = await send(call, "previewOperatorUpgrade", { org_id });
  const versions = from_versions.map(({ version, cluster_count: count }) => `${count} of ${version}`).join(", ");
  return `${cluster_count} operator${cluster_count === 1 ? "" : "s"}${versions && ` (${versions})`} to ${to_version}`;
}

async function started(call: Call, given: GivenFor<"startOperatorUpgrade">): Promise<ExitCode | undefined> {
  const { input, rest: names, options } = given;
  if ((names.length === 0) !== Boolean(options["all"]))
    throw new CliError("Name one or several clusters, or say --all.", EXIT.usage);
  if (!call.isConfirmed) {
    const upgraded = names.length === 0 ? await everyOlder(call, input) : `the operator of ${names.join(", ")}`;
    await call.confirm(`Upgrade ${upgraded}? Apps go on running.`);
  }
  const ids = await Promise.all(names.map((name) => call.find.clusterId(name)));
  const clusters = names.length === 0 ? {} : { cluster_ids: ids };
  const keepGoing = options["keepGoing"] ? { stop_on_failure: false } : {};
  const body = { ...input.body, ...clusters, ...keepGoing };
  const begun = await send(call, "startOperatorUpgrade", { ...input, body });
  if (!options["wait"]) {
    show(call, begun);
    return undefined;
  }
  const { org_id, id } = begun;
  const ended = await waited(call, options, async () => {
    const upgrade = await send(call, "getOperatorUpgrade", { org_id, id });
    return upgrade.status === "running" ? null : upgrade;
  });
  if (!ended)
    throw new CliError("The upgrade has not ended in time.", EXIT.timedOut, `binnacle clusters upgrades show ${id}`);
  show(call, ended);
  return ended.status === "succeeded" ? undefined : EXIT.failed;
}

export const OPERATOR_UPGRADE_COMMANDS: readonly Command[] = [
  command(
    "startOperatorUpgrade",
    "clusters upgrade-operator [clusters...]",
    "Upgrade the operators of clusters, or with --all of all, to the version of the control plane",
    {
      fields: [
        inOrg("org_id"),
        arg("[clusters...]", "body.cluster_ids", "list", "by name or id"),
        {
          from: "--all",
          kind: "flag",
          help: "of every cluster whose operator has an older version",
          unless: "body.cluster_ids",
        },
        option("--batch <count>", "body.batch_size", "how many at a time", { kind: "integer" }),
        { from: "--keep-going", kind: "flag", help: "begin others after a failure too" },
        ...WAIT_FIELDS,
      ],
      also: ["getOperatorUpgrade", "previewOperatorUpgrade"],
      run: started,
    },
  ),
  listing("listOperatorUpgrades", "clusters upgrades list", "List the upgrades of operators, newest first", {
    fields: [inOrg("org_id")],
    view: UPGRADE,
  }),
  command("getOperatorUpgrade", "clusters upgrades show <id>", "Show an upgrade of operators, with its clusters", {
    fields: [inOrg("org_id"), arg("<id>", "id")],
    async run(call, { input }) {
      show(call, await send(call, "getOperatorUpgrade", input));
    },
  }),
  verb("cancelOperatorUpgrade", "clusters upgrades cancel <id>", "Begin no more clusters of an upgrade of operators", {
    fields: [inOrg("org_id"), arg("<id>", "id")],
    done: "No more clusters are begun. Those under way go on to their end.",
    view: UPGRADE,
  }),
];
