import { type CallName, type Input, type ListName, operationAt, type StreamName } from "@binnacle/client";
import { type Call, type Command, type Given, listAll, local, pairs, send } from "../command.ts";
import { CliError, EXIT } from "../host.ts";

const METHODS = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);

/** Calls any operation of the API by its method and its path, with the credential of the context. */
export const API_COMMAND: Command = local("api <method> [path]", "Call the API by method and path", request, {
  fields: [
    { from: "<method>", help: "GET unless given: `binnacle api /user/me`" },
    { from: "[path]", help: "below /api/v1; {org_id}, {project_id} and {cluster_id} are filled in" },
    {
      from: "-F, --field <key=value>",
      kind: "map",
      help: "of the query of a GET, otherwise of the body; may be repeated",
    },
    { from: "--input <file>", kind: "file", help: "the body, as YAML or JSON; - is standard input" },
    { from: "--paginate", kind: "flag", help: "all pages of a list" },
  ],
  notes: "The answer is printed as JSON unless -o says otherwise. A DELETE asks first, unless --yes is given.",
});

async function request(call: Call, { args, options }: Given): Promise<undefined> {
  const [first = "", second] = [args["method"], args["path"]];
  const [method, given] =
    second === undefined && first.startsWith("/") ? ["GET", first] : [first.toUpperCase(), second];
  if (!METHODS.has(method)) throw new CliError(`"${first}" is not a method. Use ${[...METHODS].join(", ")}.`);
  if (!given) throw new CliError("Give the path, such as /user/me.");
  const [path = "", query = ""] = (await filled(call, given)).replace(/^(\/api\/v1)?\/?/, "/").split("?", 2);
  const found = operationAt(method, path);
  if (!found)
    throw new CliError(`The API has no ${method} ${path}.`, EXIT.notFound, "look at /docs of the control plane");
  const fields = pairs("--field", (options["field"] ?? []) as readonly string[]);
  const asks = method === "GET";
  const file = await bodyFrom(call, options["input"]);
  const body = file === undefined && (asks || Object.keys(fields).length === 0) ? {} : { body: file ?? fields };
  const input = {
    ...Object.fromEntries(new URLSearchParams(query)),
    ...(asks ? fields : {}),
    ...found.params,
    ...body,
  };
  if (method === "DELETE") await call.confirm(`${method} ${path}?`);
  await answered(call, found.name, input, options["paginate"] === true);
}

async function answered(call: Call, name: string, input: object, isWhole: boolean): Promise<void> {
  // The types belong to the operation, which is known only now.
  if (name.startsWith("stream")) {
    const items = call.client.stream(name as StreamName, input as never, { signal: call.host.interrupted });
    for await (const item of items) if (item.type === "event") call.item(JSON.stringify(item.data), item.data);
    return;
  }
  const answer = isWhole
    ? { data: await listAll(call, name as ListName, input as Input<ListName>) }
    : await send(call, name as CallName, input as Input<CallName>);
  if (answer === null || answer === undefined) return;
  if (call.format.kind === "table" || call.format.kind === "wide") call.print(`${JSON.stringify(answer, null, 2)}\n`);
  else call.show(null, answer);
}

async function bodyFrom(call: Call, file: unknown): Promise<unknown> {
  if (typeof file !== "string") return undefined;
  return call.readAs(file, file === "-" ? await call.host.readInput() : await call.host.readFile(file));
}

async function filled(call: Call, path: string): Promise<string> {
  const finders = {
    org_id: () => call.find.orgId(),
    project_id: () => call.find.projectId(),
    cluster_id: () => call.find.clusterId(),
  };
  let text = path;
  for (const [name, find] of Object.entries(finders))
    if (text.includes(`{${name}}`)) text = text.replaceAll(`{${name}}`, await find());
  return text;
}
