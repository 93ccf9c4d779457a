import { waited } from "../app-outcome.ts";
import { type Call, type GivenFor, isTable, send, textOf } from "../command.ts";
import { CliError, EXIT, type ExitCode } from "../host.ts";
import { componentOf, SECRET } from "./app-views.ts";

/** Sets secrets of a component from standard input, a file or a prompt, and waits: a secret is a revision of the app. */
export async function setSecrets(call: Call, given: GivenFor<"updateComponentSecrets">): Promise<ExitCode | undefined> {
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
    let value = textOf(options["value"]);
    if (value === undefined && !host.isInteractive)
      throw new CliError("Give the value by --value-stdin or --value-file.");
    value ??= (await host.password(`Value of ${key}`)) ?? undefined;
    if (value === undefined) throw new CliError("Nothing was done.", EXIT.interrupted);
    body = { [String(key)]: value };
  }
  const { data } = await send(call, "updateComponentSecrets", { ...input, component, body });
  const show = () => call.list(SECRET, data);
  if (isTable(call)) show();
  const { namespace, name, project_id } = input;
  return waited(call, await send(call, "getApp", { namespace, name, project_id }), options, show);
}
