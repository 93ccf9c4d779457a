import type { StreamItem } from "@binnacle/client";
import { type Call, durationMs, type Given, send } from "./command.ts";
import type { AppAddress } from "./find.ts";
import { CliError, EXIT, type ExitCode, printable } from "./host.ts";
import type { Row } from "./output.ts";

/** How a person leaves what is followed; that is no failure. */
async function leaving(call: Call, work: () => Promise<void>): Promise<ExitCode | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (call.host.interrupted.aborted) return EXIT.ok;
    throw error;
  }
}

/** Prints the log of an app: of all its workloads unless one is named, each line with its component where there are several. */
export async function logs(call: Call, { input, options }: Given): Promise<ExitCode | undefined> {
  const address = input as unknown as AppAddress;
  const app = await send(call, "getApp", address);
  const workloads = app.components.filter(({ type = "workload" }) => type === "workload").map(({ name }) => name);
  const asked = options["component"];
  if (typeof asked === "string" && !workloads.includes(asked)) {
    throw new CliError(
      `There is no workload "${asked}" in ${app.namespace}/${app.name}. There are: ${workloads.join(", ")}.`,
      EXIT.notFound,
    );
  }
  const components = typeof asked === "string" ? [asked] : workloads;
  if (components.length === 0)
    throw new CliError(`${app.namespace}/${app.name} has no workload, so it has no log.`, EXIT.notFound);
  const since = options["since"];
  const query = {
    follow: options["follow"] === true && options["previous"] !== true,
    previous: options["previous"] === true,
    ...(typeof options["tail"] === "number" ? { tail_lines: options["tail"] } : {}),
    ...(typeof since === "string"
      ? { since_seconds: Math.max(1, Math.ceil(durationMs("--since", since) / 1000)) }
      : {}),
  };
  const pattern = patternOf(options["grep"]);
  const width = Math.max(...components.map((name) => name.length));
  return leaving(call, async () => {
    const one = async (component: string) => {
      const prefix = components.length > 1 ? `${call.style.colors.cyan(component.padEnd(width))} ` : "";
      const lines = call.client.stream(
        "streamComponentLogs",
        { ...address, component, ...query },
        { signal: call.host.interrupted },
      );
      for await (const item of lines) tellLine(call, item, prefix, pattern);
    };
    if (query.follow) await Promise.all(components.map(one));
    else for (const component of components) await one(component);
  });
}

/** Prints the lines of one stream until it ends, or until the signal says so. */
export async function printLines(
  call: Call,
  operation: "streamRunLogs",
  input: object,
  signal: AbortSignal,
): Promise<ExitCode | undefined> {
  try {
    for await (const item of call.client.stream(operation, input as never, { signal })) tellLine(call, item, "", null);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return undefined;
}

function patternOf(text: unknown): RegExp | null {
  if (typeof text !== "string") return null;
  try {
    return new RegExp(text);
  } catch {
    throw new CliError(`"${text}" is no regular expression.`);
  }
}

function tellLine(
  call: Call,
  item: StreamItem<"streamComponentLogs" | "streamRunLogs">,
  prefix: string,
  pattern: RegExp | null,
): void {
  if (item.type === "gap") {
    call.say(
      item.reason === "dropped"
        ? `(${item.count ?? "some"} lines were dropped)`
        : "(reconnected; lines may be missing)",
    );
  }
  if (item.type !== "event" || (pattern && !pattern.test(item.data.line))) return;
  if (call.format.kind === "json") {
    call.host.out.write(`${JSON.stringify(item.data)}\n`);
    return;
  }
  // A terminal obeys what it is sent, and an app may log what others have sent to it.
  const line = call.host.out.isTerminal ? printable(item.data.line, { colors: true }) : item.data.line;
  call.host.out.write(`${prefix}${line}\n`);
}

/** Prints what happens from now on, a line for each event. */
export async function events(call: Call, { options }: Given): Promise<ExitCode | undefined> {
  const { project, cluster } = call.asked;
  const query = {
    ...(project === undefined ? {} : { project_id: await call.find.projectId() }),
    ...(cluster === undefined ? {} : { cluster_id: await call.find.clusterId() }),
    ...(options["type"] === undefined ? {} : { resource_type: options["type"] as "all" }),
  };
  const limit = options["limit"] as number | undefined;
  const { signal } = { signal: call.host.interrupted };
  return leaving(call, async () => {
    let count = 0;
    for await (const item of call.client.stream("streamEvents", query, { signal })) {
      if (item.type === "open") call.say("Following events. Ctrl-C ends it.");
      if (item.type === "gap") call.say("(reconnected; events may be missing)");
      if (item.type !== "event") continue;
      call.host.out.write(call.format.kind === "json" ? `${JSON.stringify(item.data)}\n` : `${eventLine(item.data)}\n`);
      if (limit !== undefined && ++count >= limit) return;
    }
  });
}

const KNOWN = new Set(["id", "type", "time", "org_id", "cluster_id", "project_id", "workload_id", "resource"]);

function eventLine(event: Row): string {
  const { time, type, resource } = event;
  const place = [resource.namespace, resource.name].filter(Boolean).join("/");
  const rest = Object.entries(event)
    .filter(
      ([key, value]) => !KNOWN.has(key) && (typeof value === "string" || typeof value === "number") && value !== "",
    )
    .map(([key, value]) => `${key}=${String(value)}`);
  return printable([String(time).slice(11, 19), type, `${resource.type} ${place}`.trim(), ...rest].join("  "));
}
