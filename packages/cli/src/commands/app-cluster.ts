import type { AppEvent, ComponentRun } from "@binnacle/client";
import { arg, type Call, type Command, command, type GivenFor, isTable, option, send, verb } from "../command.ts";
import { printLines } from "../following.ts";
import { CliError, EXIT, type ExitCode } from "../host.ts";
import { ageColumn, column, stateColumn, view } from "../output.ts";
import { componentOf, ofComponent, THE_APP, tree } from "./app-views.ts";

/** Commands about what an app is in its cluster at this moment. They need an operator that is connected. */

const EVENT = view<AppEvent>(
  "reason",
  ageColumn("AGE", "last_seen_at"),
  { title: "TYPE", of: ({ type }) => (type === "Warning" ? { text: type, tone: "warn" } : type) },
  column("REASON", "reason"),
  { title: "OBJECT", of: ({ object }) => `${object.kind}/${object.name}` },
  column("COUNT", "count"),
  column("MESSAGE", "message"),
);

const RUN = view<ComponentRun>(
  "id",
  column("RUN", "id"),
  column("COMPONENT", "component"),
  stateColumn("STATUS", "status"),
  column("EXIT CODE", "exit_code"),
  ageColumn("AGE", "created_at"),
  column("MESSAGE", "message"),
);

const THE_RUN = arg("<run>", "run_id", "text", "its id, as `apps run` has printed it");
const POLL_MS = 1_000;
/** The last lines may come after the run is known to have ended. */
const LAST_LINES_MS = 1_500;

export const APP_CLUSTER_COMMANDS: readonly Command[] = [
  command("getAppResources", "apps tree <app>", "Show the objects of an app in the cluster, down to its pods", {
    fields: [THE_APP],
    async run(call, { input }) {
      const answer = await send(call, "getAppResources", input);
      if (!isTable(call)) call.show(null, answer);
      else call.print(tree(answer.nodes, call.style.colors));
      if (answer.truncated) call.info("(there are more objects than an answer holds)");
    },
  }),
  command("listAppEvents", "apps events <app>", "List what Kubernetes says about the objects of an app", {
    fields: [THE_APP],
    async run(call, { input }) {
      const answer = await send(call, "listAppEvents", input);
      if (isTable(call)) call.list(EVENT, answer.events);
      else call.show(null, answer);
    },
  }),
  command(
    "runComponent",
    "apps run <app> [command...]",
    "Run the image of a component once, with another command if you like",
    {
      fields: [
        THE_APP,
        ofComponent("component"),
        { from: "--env <key=value>", kind: "map", help: "a variable besides those of the component; no secrets" },
        { from: "--detach", kind: "flag", help: "do not wait for its end" },
      ],
      also: ["getComponentRun", "streamRunLogs"],
      notes: "Example: binnacle apps run shop/web -- bin/migrate --all\nThe exit code is 1 where the command fails.",
      run,
    },
  ),
  command(
    "execComponent",
    "apps exec <app> [command...]",
    "Run a command in a container of a component, or open a shell there",
    {
      fields: [
        THE_APP,
        ofComponent("component"),
        option("--pod <name>", "pod", "one of its pods; otherwise one that runs"),
        option("-c, --container <name>", "container", "a container of the pod; otherwise the first"),
        { from: "-i, --stdin", kind: "flag", help: "accepted as kubectl has it: input always goes to the command" },
        { from: "-t, --tty", kind: "flag", help: "with a terminal, which is the default where there is one" },
        { from: "--no-tty", kind: "flag", help: "without a terminal, as for pipes" },
      ],
      notes:
        "Example: binnacle apps exec shop/web -- ls -l /data\nWithout a command it is /bin/sh. The exit code is that of the command. " +
        "The command is in the audit log, what is typed and shown is not.",
      run: exec,
    },
  ),
  verb("getComponentRun", "apps runs show <app> <run>", "Show a run: whether it has ended, and with which exit code", {
    fields: [THE_APP, THE_RUN],
    view: RUN,
  }),
  command("streamRunLogs", "apps runs logs <app> <run>", "Print the log of a run", {
    fields: [THE_APP, THE_RUN, { from: "-f, --follow", kind: "flag", help: "go on with new lines" }],
    async run(call, { input, options }) {
      const follow = options["follow"] === true;
      return printLines(call, { ...input, follow }, call.host.interrupted);
    },
  }),
];

async function exec(call: Call, given: GivenFor<"execComponent">): Promise<number | undefined> {
  const { host } = call;
  const { console } = host;
  const { input, options, rest } = given;
  const tty = options["tty"] !== false && console.isTerminal;
  const component = await componentOf(call, given);
  const wanted = {
    ...input,
    component,
    command: rest.length > 0 ? rest : undefined,
    tty,
    ...(tty ? console.size() : {}),
  };
  const session = await call.client.exec(wanted, { signal: host.interrupted, onOutput: console.write });
  const restore = console.open(tty, {
    onInput: (data) => session.write(data).catch(() => undefined),
    onEnd: () => session.end(),
    onResize: () => tty && session.resize(console.size()),
  });
  try {
    return await session.exited;
  } finally {
    restore();
    session.close();
  }
}

async function run(call: Call, given: GivenFor<"runComponent">): Promise<ExitCode | undefined> {
  const { host } = call;
  const { input, options, rest } = given;
  const env = Object.entries((options["env"] ?? {}) as Record<string, unknown>).map(([name, value]) => ({
    name,
    value: String(value),
  }));
  const body = { ...(rest.length > 0 ? { command: rest } : {}), ...(env.length > 0 ? { env } : {}) };
  const component = await componentOf(call, given);
  const started = await send(call, "runComponent", { ...input, component, body });
  const address = { ...input, run_id: started.id };
  if (options["detach"]) {
    call.show(RUN, started);
    return undefined;
  }
  call.info(`Run ${started.id} of ${component} begins.`);
  const leaving = new AbortController();
  const lines = printLines(call, { ...address, follow: true }, leaving.signal, !isTable(call));
  let seen: ComponentRun = started;
  try {
    while (seen.status === "pending" || seen.status === "running") {
      await host.sleep(POLL_MS, host.interrupted);
      seen = await send(call, "getComponentRun", address);
    }
    await Promise.race([lines, host.sleep(LAST_LINES_MS, host.interrupted)]);
  } catch (error) {
    if (host.interrupted.aborted)
      call.info(`It goes on. Come back with: binnacle apps runs show ${given.args["app"]} ${started.id}`);
    throw error;
  } finally {
    leaving.abort();
    await lines;
  }
  if (!isTable(call)) call.show(RUN, seen);
  if (seen.status === "succeeded") return EXIT.ok;
  throw new CliError(seen.message ?? "The run has failed.", EXIT.failed);
}
