import { type App, attachmentChange, standsFor } from "@binnacle/client";
import { gone, WAITING, waited, waitForApp } from "../app-outcome.ts";
import { rolledBack } from "../app-rollback.ts";
import {
  arg,
  type Call,
  type Command,
  command,
  confirmLosses,
  type Field,
  type Given,
  type GivenFor,
  type InputPath,
  isTable,
  listAll,
  listing,
  option,
  send,
  verb,
} from "../command.ts";
import { deploy, exportApp, init } from "../deploy.ts";
import type { AppAddress } from "../find.ts";
import { logs } from "../following.ts";
import { CliError, EXIT, type ExitCode } from "../host.ts";
import { WAIT_OPTIONS } from "../outcome.ts";
import { APP_LIST } from "./app-list.ts";
import { setSecrets } from "./app-secret-values.ts";
import {
  APP,
  CHANGE,
  COMPONENT,
  componentOf,
  DEPLOYMENT,
  ofComponent,
  POD,
  SECRET,
  suspensionOf,
  THE_APP,
} from "./app-views.ts";
import { CHART, charts, RANGE } from "./clusters.ts";

/** An operation on an app that is waited for. */
const waitedFor = <N extends "pauseApp" | "resumeApp" | "redeployApp" | "unsuspendApp">(
  usage: string,
  about: string,
  operation: N,
  fields: readonly Field<InputPath<N>>[] = [],
): Command =>
  command<N>(operation, usage, about, {
    fields: [THE_APP, ...fields, ...WAITING],
    run: async (call, { input, options }) => waited(call, await send(call, operation, input), options),
  });

export const APP_COMMANDS: readonly Command[] = [
  command(
    ["createApp", "updateApp"],
    "apps deploy",
    "Create or change the apps of a file, after showing what changes",
    {
      fields: [
        // The command finds the project by itself, because a file may name it.
        { from: "--project", to: "body.project_id" },
        {
          from: "-f, --file <file>",
          kind: "file",
          help: "one or several apps; - is standard input",
          preset: "binnacle.yaml",
        },
        {
          from: "--dry-run",
          kind: "flag",
          help: "have the control plane check it, and only show it; exits with 10 where something would change",
        },
        { from: "--env-substitution", kind: "flag", help: `fill in \${NAME} from the environment` },
        { from: "--update-secrets", kind: "flag", help: "send secrets that the app has already, too" },
        {
          from: "--rollback-on-failure",
          kind: "flag",
          help: "go back to the last revision that ran, where an app does not come to run",
        },
        { from: "--recreate", kind: "flag", help: "allow a change that loses the data in volumes" },
        { from: "--allow-downgrade", kind: "flag", help: "allow an older version of an addon with data" },
        ...WAITING,
      ],
      also: ["getApp", "getProject", "listDeployments", "getDeployment", "rollbackApp"],
      run: deploy,
    },
  ),
  command<"getApp">([], "apps init", "Write a commented binnacle.yaml for an image, or of a running app", {
    fields: [
      { from: "--image <image>", help: "to run" },
      { from: "--from-app <app>", help: "an app that runs already" },
      { from: "--name <name>", help: "of the app; the image's unless given" },
      { from: "--port <port>", kind: "integer", help: "that it listens on" },
      { from: "-f, --file <file>", help: "to write", preset: "binnacle.yaml" },
      { from: "--force", kind: "flag", help: "replace the file" },
    ],
    also: ["getApp"],
    run: init,
  }),
  command<"getApp">([], "apps export <app>", "Print a running app as a binnacle.yaml", {
    fields: [THE_APP],
    also: ["getApp"],
    run: exportApp,
  }),
  APP_LIST,
  command("getApp", "apps show <app>", "Show an app and its components; its pods with -o wide", {
    fields: [THE_APP],
    async run(call, { input }) {
      const app = await send(call, "getApp", input);
      call.show(APP, app);
      if (app.suspended) call.info(suspensionOf(app));
      if (!isTable(call) || app.components_status.length === 0) return undefined;
      call.print("\n");
      call.list(COMPONENT, app.components_status);
      const pods = app.components_status.flatMap(({ pods }) => pods ?? []);
      if (call.format.kind !== "wide" || pods.length === 0) return undefined;
      call.print("\n");
      call.list(POD, pods);
      return undefined;
    },
  }),
  command<"getApp">([], "apps wait <app>", "Wait until the newest change of an app has ended", {
    fields: [THE_APP, ...WAITING.slice(1)],
    also: ["getApp", "getDeployment"],
    run: waitForApp,
  }),
  command("scaleApp", "apps scale <app> <replicas>", "Set how many replicas a component runs", {
    fields: [THE_APP, arg("<replicas>", "body.replicas", "integer"), ofComponent("body.component_name"), ...WAITING],
    async run(call, given) {
      const body = { ...given.input.body, component_name: await componentOf(call, given) };
      return waited(call, await send(call, "scaleApp", { ...given.input, body }), given.options);
    },
  }),
  waitedFor("apps pause <app>", "Stop all workloads of an app and remember their counts", "pauseApp"),
  waitedFor("apps resume <app>", "Start the workloads of a paused app again", "resumeApp"),
  verb("suspendApp", "apps suspend <app>", "Keep the operator from touching an app, whoever deploys meanwhile", {
    fields: [THE_APP, option("--reason <text>", "body.reason", "why, for whoever finds it suspended")],
    view: APP,
    done: suspensionOf,
  }),
  waitedFor(
    "apps unsuspend <app>",
    "End the suspension of an app, and apply what was stored meanwhile",
    "unsuspendApp",
  ),
  waitedFor("apps redeploy <app>", "Apply again what is recorded", "redeployApp", [
    option("--force", "body.force", "take over fields that another manager owns", { kind: "flag" }),
  ]),
  listing("listDeployments", "apps history <app>", "List what was done to an app, newest first", {
    fields: [THE_APP],
    limit: 20,
    view: DEPLOYMENT,
  }),
  command<"listDeployments">(
    [],
    "apps diff <app>",
    "Compare two revisions: the newest two unless given; exits with 10 where they differ",
    {
      fields: [THE_APP, { from: "--revision <numbers...>", help: "the earlier and the later one" }],
      also: ["listDeployments", "diffDeployments"],
      run: diff,
    },
  ),
  command(
    ["rollbackApp", "rollbackToDeployment"],
    "apps rollback <app>",
    "Restore an earlier revision: the last one that ran unless given",
    {
      fields: [
        THE_APP,
        option("--to <revision>", "body.revision", "its number", { kind: "integer" }),
        option("--deployment <id>", "deployment_id", "the deployment, instead of a number"),
        option("--allow-downgrade", "body.allow_downgrade", "allow an older version of an addon with data", {
          kind: "flag",
        }),
        ...WAITING,
      ],
      async run(call, { input, options }) {
        return waited(call, await restored(call, input), options);
      },
    },
  ),
  command("streamComponentLogs", "apps logs <app>", "Print the log of an app", {
    fields: [
      THE_APP,
      option("-f, --follow", "follow", "go on with new lines", { kind: "flag" }),
      option("--component <name>", "component", "of one component"),
      option("--tail <count>", "tail_lines", "lines of each container at first; 200 unless given", { kind: "integer" }),
      { from: "--since <time>", help: "no older lines: 15m, or a time such as 2026-01-31T10:00:00Z" },
      { from: "--until <time>", help: "no newer lines, in the same way; does not follow" },
      option("--previous", "previous", "of the run before, as after a crash", { kind: "flag" }),
      { from: "--grep <pattern>", help: "only lines that match" },
      { from: "--timestamps", kind: "flag", help: "the time before each line" },
      { from: "--no-prefix", kind: "flag", help: "neither component nor pod before the lines" },
    ],
    also: ["getApp"],
    run: logs,
  }),
  command("getAppMetrics", "apps metrics <app>", "Chart what an app uses", {
    fields: [THE_APP, RANGE],
    async run(call, { input }) {
      const answer = await send(call, "getAppMetrics", input);
      if (isTable(call)) call.list(CHART, charts(answer.series, 60));
      else call.show(null, answer);
    },
  }),
  command("listComponentSecrets", "apps secrets list <app>", "List the keys of a component's secrets", {
    fields: [THE_APP, ofComponent("component")],
    async run(call, given) {
      call.list(
        SECRET,
        await listAll(call, "listComponentSecrets", { ...given.input, component: await componentOf(call, given) }),
      );
    },
  }),
  command(
    "updateComponentSecrets",
    "apps secrets set <app> [key]",
    "Set a secret of a component; the value comes from standard input, a file or a prompt",
    {
      fields: [
        THE_APP,
        { ...arg("[key]", "body"), kind: "key" },
        ofComponent("component"),
        { from: "--value", kind: "secret", help: "the value" },
        { from: "--env-file <file>", help: "several, as KEY=value lines; - is standard input" },
        ...WAITING,
      ],
      also: ["getApp"],
      run: setSecrets,
    },
  ),
  command("deleteComponentSecret", "apps secrets unset <app> <keys...>", "Remove secrets of a component", {
    fields: [THE_APP, arg("<keys...>", "key"), ofComponent("component"), ...WAITING],
    also: ["getApp"],
    async run(call, given) {
      const component = await componentOf(call, given);
      for (const key of given.rest) await send(call, "deleteComponentSecret", { ...given.input, component, key });
      call.info(`Removed ${given.rest.join(", ")}.`);
      const { namespace, name, project_id } = given.input;
      return waited(call, await send(call, "getApp", { namespace, name, project_id }), given.options);
    },
  }),
  command<"getApp">([], "apps open <app>", "Open an app in the browser, by the host of its ingress", {
    fields: [THE_APP, { from: "--print", kind: "flag", help: "print the address only" }],
    also: ["getApp"],
    async run(call, { input, options }) {
      const app = await send(call, "getApp", input);
      const ingress = app.components.map(({ workload_spec }) => workload_spec?.ingress).find((it) => it !== undefined);
      if (!ingress)
        throw new CliError(`${app.namespace}/${app.name} has no ingress, so it has no address.`, EXIT.notFound);
      const url = `${ingress.tls ? "https" : "http"}://${ingress.host}${ingress.path ?? "/"}`;
      if (isTable(call)) call.print(`${url}\n`);
      else call.show(null, { url });
      if (!options["print"] && call.host.isInteractive) await call.host.openPage(url);
    },
  }),
  command("attachAddon", "apps attach-addon <app> <addon>", "Give an app what an addon instance exports", {
    fields: [
      THE_APP,
      arg("<addon>", "body.addon_instance_id", "addon"),
      option("--component <name>", "body.component_name", "only this one"),
      { from: "--no-add", kind: "flag", help: "do not add the component that stands for the addon" },
      ...WAITING,
    ],
    also: ["updateApp", "getApp", "getAddonInstance"],
    run: attachAddon,
  }),
  command("detachAddon", "apps detach-addon <app> <addon>", "Take an addon's exports out of an app", {
    fields: [THE_APP, arg("<addon>", "addon_instance_id", "addon"), ...WAITING],
    also: ["getApp"],
    async run(call, { input, args, options }) {
      await send(call, "detachAddon", input);
      call.info(`Detached ${args["addon"]}.`);
      const { namespace, name, project_id } = input;
      return waited(call, await send(call, "getApp", { namespace, name, project_id }), options);
    },
  }),
  command("deleteApp", "apps delete <app>", "Delete an app and its components", {
    fields: [THE_APP, ...WAIT_OPTIONS],
    also: ["previewAppDeletion", "getApp"],
    async run(call, { input, options, args }) {
      await confirmLosses(call, "previewAppDeletion", input, `Delete the app ${args["app"]}?`);
      await send(call, "deleteApp", input);
      const name = `${input.namespace}/${input.name}`;
      const comeBack = `binnacle apps show ${name}`;
      const phaseOf = ({ phase, phase_message }: App) => [phase, phase_message].filter(Boolean).join("  ");
      return gone(call, options, { name, comeBack, phaseOf, read: () => send(call, "getApp", input) });
    },
  }),
];

async function restored(call: Call, input: GivenFor<"rollbackApp" | "rollbackToDeployment">["input"]): Promise<App> {
  if ("deployment_id" in input) return send(call, "rollbackToDeployment", { ...input, body: { ...input.body } });
  const { body, ...address } = input;
  if (body?.revision !== undefined) return send(call, "rollbackApp", { ...address, body });
  return rolledBack(call, address, body);
}

/** Without a component of its name the app would be invalid, so it is added in the same change. */
async function attachAddon(call: Call, { input, options }: GivenFor<"attachAddon">): Promise<ExitCode | undefined> {
  const { body, ...address } = input;
  const signal = call.host.interrupted;
  const { name } = await call.client.call("getAddonInstance", { id: body.addon_instance_id }, { signal });
  const { data: app, etag } = await call.client.send("getApp", address, { signal });
  if (options["add"] === false || standsFor(app, name)) {
    return waited(call, await send(call, "attachAddon", input), options);
  }
  call.info(`Adding the component ${name}, which stands for the addon instance.`);
  const components = attachmentChange(app, name, body.component_name ?? null);
  const change = { ...address, body: { components } };
  const changed = await call.client.call("updateApp", change, { signal, ...(etag ? { ifMatch: etag } : {}) });
  return waited(call, changed, options);
}

async function diff(call: Call, { input, options }: Given<AppAddress>): Promise<ExitCode | undefined> {
  const { revision } = options;
  const asked = Array.isArray(revision) ? revision.map(Number) : undefined;
  if (asked && (asked.length !== 2 || asked.some((number) => !Number.isInteger(number)))) {
    throw new CliError("--revision takes two numbers: the earlier and the later one.");
  }
  const deployments = await listAll(call, "listDeployments", input, asked ? undefined : 2);
  const [earlier, later] = asked
    ? asked.map((number) => deployments.find((it) => it.revision === number))
    : [deployments[1], deployments[0]];
  if (!earlier || !later)
    throw new CliError(
      asked ? `There is no revision ${earlier ? asked[1] : asked[0]}.` : "There is only one revision.",
      EXIT.notFound,
    );
  const answer = await send(call, "diffDeployments", {
    ...input,
    deployment_id: later.deployment_id,
    against: earlier.deployment_id,
  });
  if (!isTable(call)) call.show(null, answer);
  else if (answer.changes.length === 0) call.info(`Revision ${earlier.revision} and ${later.revision} are the same.`);
  else call.list(CHANGE, answer.changes);
  return answer.changes.length > 0 ? EXIT.different : EXIT.ok;
}
