import { attachmentChange, standsFor } from "@binnacle/client";
import { arg, type Call, type Command, type Given, option, send, taken, verb } from "../command.ts";
import { deploy, exportApp, init, WAITING, waited, waitForApp } from "../deploy.ts";
import type { AppAddress } from "../find.ts";
import { logs } from "../following.ts";
import { CliError, EXIT, type ExitCode } from "../host.ts";
import type { Row } from "../output.ts";
import { APP_LIST } from "./app-list.ts";
import { APP, CHANGE, COMPONENT, componentOf, DEPLOYMENT, isTable, POD, SECRET, THE_APP } from "./app-views.ts";
import { CHART, charts, RANGE } from "./clusters.ts";

const OF_COMPONENT = { from: "--component <name>", help: "the component; needed where there are several" };

/** An operation on an app that is waited for. */
const operation = (
  usage: string,
  about: string,
  name: "pauseApp" | "resumeApp" | "redeployApp",
  fields: Command["fields"] = [],
): Command => ({
  usage,
  about,
  fields: [THE_APP, ...fields, ...WAITING],
  uses: [name],
  run: async (call, { input, options }) => waited(call, await send(call, name, input), options),
});

export const APP_COMMANDS: readonly Command[] = [
  {
    usage: "apps deploy",
    about: "Create or change the apps of a file, after showing what changes",
    fields: [
      { from: "-f, --file <file>", help: "one or several apps; - is standard input", preset: "binnacle.yaml" },
      { from: "--dry-run", kind: "flag", help: "only show it; exits with 2 where something would change" },
      { from: "--env-substitution", kind: "flag", help: `fill in \${NAME} from the environment` },
      { from: "--update-secrets", kind: "flag", help: "send secrets that the app has already, too" },
      { from: "--recreate", kind: "flag", help: "allow a change that loses the data in volumes" },
      { from: "--allow-downgrade", kind: "flag", help: "allow an older version of an addon with data" },
      ...WAITING,
    ],
    uses: ["createApp", "updateApp", "getApp", "getProject", "listDeployments", "getDeployment"],
    run: deploy,
  },
  {
    usage: "apps init",
    about: "Write a commented binnacle.yaml for an image, or of a running app",
    fields: [
      { from: "--image <image>", help: "to run" },
      { from: "--from-app <app>", help: "an app that runs already" },
      { from: "--name <name>", help: "of the app; the image's unless given" },
      { from: "--port <port>", kind: "integer", help: "that it listens on" },
      { from: "-f, --file <file>", help: "to write", preset: "binnacle.yaml" },
      { from: "--force", kind: "flag", help: "replace the file" },
    ],
    uses: ["getApp"],
    run: init,
  },
  {
    usage: "apps export <app>",
    about: "Print a running app as a binnacle.yaml",
    fields: [THE_APP],
    uses: ["getApp"],
    run: exportApp,
  },
  APP_LIST,
  {
    usage: "apps show <app>",
    about: "Show an app and its components; its pods with -o wide",
    fields: [THE_APP],
    uses: ["getApp"],
    async run(call, { input }) {
      const app: Row = await send(call, "getApp", input);
      call.show(APP, app);
      if (!isTable(call) || app.components_status.length === 0) return undefined;
      call.host.out.write("\n");
      call.list(COMPONENT, app.components_status);
      const pods = app.components_status.flatMap((status: Row) => status.pods ?? []);
      if (call.format.kind !== "wide" || pods.length === 0) return undefined;
      call.host.out.write("\n");
      call.list(POD, pods);
      return undefined;
    },
  },
  {
    usage: "apps wait <app>",
    about: "Wait until the newest change of an app has ended",
    fields: [THE_APP, ...WAITING.slice(1)],
    uses: ["getApp", "getDeployment"],
    run: waitForApp,
  },
  {
    usage: "apps scale <app> <replicas>",
    about: "Set how many replicas a component runs",
    fields: [THE_APP, arg("<replicas>", "body.replicas", "integer"), OF_COMPONENT, ...WAITING],
    uses: ["scaleApp"],
    async run(call, given) {
      const { replicas } = given.input["body"] as { replicas: number };
      const component_name = await componentOf(call, given);
      return waited(
        call,
        await send(call, "scaleApp", { ...given.input, body: { component_name, replicas } }),
        given.options,
      );
    },
  },
  operation("apps pause <app>", "Stop all workloads of an app and remember their counts", "pauseApp"),
  operation("apps resume <app>", "Start the workloads of a paused app again", "resumeApp"),
  operation("apps redeploy <app>", "Apply again what is recorded", "redeployApp", [
    option("--force", "body.force", "take over fields that another manager owns", { kind: "flag" }),
  ]),
  verb({
    usage: "apps history <app>",
    about: "List what was done to an app, newest first",
    operation: "listDeployments",
    fields: [THE_APP],
    isList: true,
    limit: 20,
    view: DEPLOYMENT,
  }),
  {
    usage: "apps diff <app>",
    about: "Compare two revisions: the newest two unless given; exits with 2 where they differ",
    fields: [THE_APP, { from: "--revision <numbers...>", help: "the earlier and the later one" }],
    uses: ["listDeployments", "diffDeployments"],
    run: diff,
  },
  {
    usage: "apps rollback <app>",
    about: "Restore an earlier revision: the one before unless given",
    fields: [
      THE_APP,
      { from: "--to <revision>", kind: "integer", help: "its number" },
      { from: "--deployment <id>", help: "the deployment, instead of a number" },
      { from: "--allow-downgrade", kind: "flag", help: "allow an older version of an addon with data" },
      ...WAITING,
    ],
    uses: ["rollbackApp", "rollbackToDeployment"],
    async run(call, { input, options }) {
      const confirmed = options["allowDowngrade"] ? { allow_downgrade: true } : {};
      const deployment_id = options["deployment"];
      const app =
        deployment_id === undefined
          ? await send(call, "rollbackApp", { ...input, body: { revision: options["to"] ?? -1, ...confirmed } })
          : await send(call, "rollbackToDeployment", { ...input, deployment_id, body: confirmed });
      return waited(call, app, options);
    },
  },
  {
    usage: "apps logs <app>",
    about: "Print the log of an app",
    fields: [
      THE_APP,
      { from: "-f, --follow", kind: "flag", help: "go on with new lines" },
      { from: "--component <name>", help: "of one component" },
      { from: "--tail <count>", kind: "integer", help: "lines of each container at first; 200 unless given" },
      { from: "--since <duration>", help: "no older lines, such as 15m" },
      { from: "--previous", kind: "flag", help: "of the run before, as after a crash" },
      { from: "--grep <pattern>", help: "only lines that match" },
    ],
    uses: ["streamComponentLogs", "getApp"],
    run: logs,
  },
  {
    usage: "apps metrics <app>",
    about: "Chart what an app uses",
    fields: [THE_APP, RANGE],
    uses: ["getAppMetrics"],
    async run(call, { input }) {
      const answer: Row = await send(call, "getAppMetrics", input);
      if (isTable(call)) call.list(CHART, charts(answer.series, 60));
      else call.show(null, answer);
      return undefined;
    },
  },
  {
    usage: "apps secrets list <app>",
    about: "List the keys of a component's secrets",
    fields: [THE_APP, OF_COMPONENT],
    uses: ["listComponentSecrets"],
    async run(call, given) {
      call.list(
        SECRET,
        await taken(call, "listComponentSecrets", { ...given.input, component: await componentOf(call, given) }),
      );
      return undefined;
    },
  },
  {
    usage: "apps secrets set <app> [key]",
    about: "Set a secret of a component; the value comes from standard input, a file or a prompt",
    fields: [
      THE_APP,
      OF_COMPONENT,
      { from: "--value", kind: "secret", help: "the value" },
      { from: "--env-file <file>", help: "several, as KEY=value lines; - is standard input" },
    ],
    uses: ["updateComponentSecrets"],
    run: setSecrets,
  },
  {
    usage: "apps secrets unset <app> <keys...>",
    about: "Remove secrets of a component",
    fields: [THE_APP, OF_COMPONENT],
    uses: ["deleteComponentSecret"],
    async run(call, given) {
      const component = await componentOf(call, given);
      for (const key of given.rest) await send(call, "deleteComponentSecret", { ...given.input, component, key });
      call.say(`Removed ${given.rest.join(", ")}.`);
      return undefined;
    },
  },
  {
    usage: "apps open <app>",
    about: "Open an app in the browser, by the host of its ingress",
    fields: [THE_APP, { from: "--print", kind: "flag", help: "print the address only" }],
    uses: ["getApp"],
    async run(call, { input, options }) {
      const app: Row = await send(call, "getApp", input);
      const ingress = app.components.map(({ workload_spec }: Row) => workload_spec?.ingress).find(Boolean);
      if (!ingress)
        throw new CliError(`${app.namespace}/${app.name} has no ingress, so it has no address.`, EXIT.notFound);
      const url = `${ingress.tls ? "https" : "http"}://${ingress.host}${ingress.path ?? "/"}`;
      call.host.out.write(`${url}\n`);
      if (!options["print"] && call.host.isInteractive) await call.host.openPage(url);
      return undefined;
    },
  },
  {
    usage: "apps attach-addon <app> <addon>",
    about: "Give an app what an addon instance exports",
    fields: [
      THE_APP,
      arg("<addon>", "body.addon_instance_id", "addon"),
      option("--component <name>", "body.component_name", "only this one"),
      { from: "--no-add", kind: "flag", help: "do not add the component that stands for the addon" },
      ...WAITING,
    ],
    uses: ["attachAddon", "updateApp", "getApp", "getAddonInstance"],
    run: attachAddon,
  },
  verb({
    usage: "apps detach-addon <app> <addon>",
    about: "Take an addon's exports out of an app",
    operation: "detachAddon",
    fields: [THE_APP, arg("<addon>", "addon_instance_id", "addon")],
    done: "Detached {addon}.",
  }),
  verb({
    usage: "apps delete <app>",
    about: "Delete an app and its components",
    operation: "deleteApp",
    fields: [THE_APP],
    preview: "previewAppDeletion",
    confirm: "Delete the app {app}?",
    done: "{app} is being deleted.",
  }),
];

/** Without a component of its name the app would be invalid, so it is added in the same change. */
async function attachAddon(call: Call, { input, options }: Given): Promise<ExitCode | undefined> {
  const { body, ...address } = input as { body: { addon_instance_id: string; component_name?: string } };
  const { signal } = { signal: call.host.interrupted };
  const { name } = await call.client.call("getAddonInstance", { id: body.addon_instance_id }, { signal });
  const { data: app, etag } = await call.client.send("getApp", address as AppAddress, { signal });
  if (options["add"] === false || standsFor(app, name)) {
    return waited(call, await send(call, "attachAddon", input), options);
  }
  call.say(`Adding the component ${name}, which stands for the addon instance.`);
  const components = attachmentChange(app, name, body.component_name ?? null);
  const changed = await call.client.call(
    "updateApp",
    { ...(address as AppAddress), body: { components } },
    {
      signal,
      ...(etag ? { ifMatch: etag } : {}),
    },
  );
  return waited(call, changed, options);
}

async function diff(call: Call, { input, options }: Given): Promise<ExitCode | undefined> {
  const asked = (options["revision"] as readonly string[] | undefined)?.map(Number);
  if (asked && (asked.length !== 2 || asked.some((number) => !Number.isInteger(number)))) {
    throw new CliError("--revision takes two numbers: the earlier and the later one.");
  }
  const deployments = await taken(call, "listDeployments", input, asked ? undefined : 2);
  const [earlier, later] = asked
    ? asked.map((number) => deployments.find(({ revision }) => revision === number))
    : [deployments[1], deployments[0]];
  if (!earlier || !later)
    throw new CliError(
      asked ? `There is no revision ${earlier ? asked[1] : asked[0]}.` : "There is only one revision.",
      EXIT.notFound,
    );
  const answer: Row = await send(call, "diffDeployments", {
    ...input,
    deployment_id: later.deployment_id,
    against: earlier.deployment_id,
  });
  if (!isTable(call)) call.show(null, answer);
  else if (answer.changes.length === 0) call.say(`Revision ${earlier.revision} and ${later.revision} are the same.`);
  else call.list(CHANGE, answer.changes);
  return answer.changes.length > 0 ? EXIT.usage : EXIT.ok;
}

async function setSecrets(call: Call, given: Given): Promise<undefined> {
  const { host } = call;
  const { args, options, input } = given;
  const file = options["envFile"];
  const key = args["key"];
  if ((key === undefined) === (file === undefined)) throw new CliError("Give either a key or --env-file.");
  const component = await componentOf(call, given);
  let body: Record<string, string>;
  if (typeof file === "string") {
    const text = file === "-" ? await host.readInput() : await host.readFile(file);
    const lines = text.split(/\r?\n/).filter((line) => line.trim() && !line.trim().startsWith("#"));
    const wrong = lines.findIndex((line) => !/^[^=]+=/.test(line));
    // The line itself may be a secret, so only its place is told.
    if (wrong >= 0) throw new CliError(`Entry ${wrong + 1} of ${file} is not KEY=value.`);
    body = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf("=")).trim(), line.slice(line.indexOf("=") + 1)]),
    );
  } else {
    let value = options["value"] as string | undefined;
    if (value === undefined && !host.isInteractive)
      throw new CliError("Give the value by --value-stdin or --value-file.");
    value ??= (await host.password(`Value of ${key}`)) ?? undefined;
    if (value === undefined) throw new CliError("Nothing was done.", EXIT.interrupted);
    body = { [String(key)]: value };
  }
  call.list(SECRET, ((await send(call, "updateComponentSecrets", { ...input, component, body })) as Row).data);
  return undefined;
}
