import type { Input } from "@binnacle/client";
import { RESTARTED_AT } from "@binnacle/manifest/plan";
import { WAITING, waited } from "../app-outcome.ts";
import { type Call, type Command, command, type Given, send } from "../command.ts";
import { deployText } from "../deploy.ts";
import type { AppAddress } from "../find.ts";
import { CliError, EXIT, type ExitCode } from "../host.ts";
import { exported } from "../manifest.ts";
import { componentOf, THE_APP } from "./app-views.ts";

type Changes = NonNullable<Input<"updateApp">["body"]["components"]>;

const COMPONENT = { from: "--component <name>", help: "the component; needed where there are several" } as const;

/** Changes one component of an app, and waits. */
async function changed(call: Call, given: Given<AppAddress>, spec: object): Promise<ExitCode | undefined> {
  const { namespace, name, project_id } = given.input;
  const component = await componentOf(call, given);
  const components = [{ op: "patch", name: component, workload_spec: spec }] as Changes;
  return waited(
    call,
    await send(call, "updateApp", { namespace, name, project_id, body: { components } }),
    given.options,
  );
}

/** Changes of an app that need no file. */
export const APP_EDIT_COMMANDS: readonly Command[] = [
  command<"getApp">([], "apps set-image <app> <image>", "Run another image in a component", {
    fields: [THE_APP, { from: "<image>", help: "with its tag" }, COMPONENT, ...WAITING],
    also: ["updateApp", "getApp"],
    run: (call, given) => changed(call, given, { image: given.args["image"] }),
  }),
  command<"getApp">([], "apps restart <app>", "Start new pods of a component, one after the other", {
    fields: [THE_APP, COMPONENT, ...WAITING],
    also: ["updateApp", "getApp"],
    run: (call, given) =>
      changed(call, given, { annotations: { [RESTARTED_AT]: new Date(call.host.now()).toISOString() } }),
  }),
  command<"getApp">([], "apps edit <app>", "Edit an app as a file in your editor, and deploy it", {
    fields: [THE_APP, ...WAITING],
    also: ["getApp", "getProject"],
    notes: "The editor is that of $VISUAL or $EDITOR. What was not changed is not deployed.",
    run: edited,
  }),
];

async function edited(call: Call, { input, options }: Given<AppAddress>): Promise<ExitCode | undefined> {
  const app = await send(call, "getApp", input);
  const { name: project } = await send(call, "getProject", { id: app.project_id });
  const before = exported(app, project, call.target.url);
  const after = await call.host.edit(before, `${app.name}.yaml`);
  if (after === null || after === before) throw new CliError("Nothing was changed.", EXIT.failed);
  try {
    return await deployText(call, after, `${app.name}.yaml`, { ...options, project: app.project_id });
  } catch (error) {
    const kept = `${app.name}.edited.yaml`;
    await call.host.writeFile(kept, after, true);
    call.info(`What you have edited is kept in ${kept}.`);
    throw error;
  }
}
