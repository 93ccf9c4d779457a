import type { App, Event, Input, LogLine, StreamItem } from "@binnacle/client";
import { type Call, type Given, type GivenFor, limitOf, send } from "./command.ts";
import type { AppAddress } from "./find.ts";
import { CliError, EXIT, type ExitCode, printable } from "./host.ts";
import { momentMs, patternOf, prefixer } from "./log-lines.ts";

/** How a person leaves what is followed; that is not a failure. */
async function leaving(call: Call, work: () => Promise<void>): Promise<ExitCode | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (call.host.interrupted.aborted) return EXIT.ok;
    throw error;
  }
}

/** Prints the log of an app: of all its workloads unless one is named, each line with its component and pod where there are several. */
export async function logs(
  call: Call,
  { input: { namespace, name, project_id }, options }: Given<AppAddress>,
): Promise<ExitCode | undefined> {
  const address = { namespace, name, project_id };
  const app = await send(call, "getApp", address);
  const components = componentsToRead(app, options["component"]);
  const nowMs = call.host.now();
  const { since, until } = options;
  const query = {
    follow: options["follow"] === true && options["previous"] !== true && until === undefined,
    previous: options["previous"] === true,
    ...(typeof options["tail"] === "number" ? { tail_lines: options["tail"] } : {}),
    ...(typeof since === "string"
      ? { since_seconds: Math.max(1, Math.ceil((nowMs - momentMs("--since", since, nowMs)) / 1000)) }
      : {}),
  };
  const untilMs = typeof until === "string" ? momentMs("--until", until, nowMs) : Number.POSITIVE_INFINITY;
  const pattern = patternOf(options["grep"]);
  const isWanted = ({ time, line }: LogLine) => Date.parse(time) <= untilMs && (!pattern || pattern.test(line));
  const replicated = app.components_status.filter(({ desired }) => (desired ?? 0) > 1).map((it) => it.name);
  const before = prefixer(
    {
      app: app.name,
      components: options["prefix"] === false ? [] : components,
      replicated: new Set(options["prefix"] === false ? [] : replicated),
      hasTime: options["timestamps"] === true,
    },
    call.style.colors,
  );
  return leaving(call, async () => {
    const one = async (component: string) => {
      const lines = call.client.stream(
        "streamComponentLogs",
        { ...address, component, ...query },
        { signal: call.host.interrupted },
      );
      for await (const item of lines) tellLine(call, item, before, isWanted);
    };
    if (query.follow) await Promise.all(components.map(one));
    else for (const component of components) await one(component);
  });
}

/** The workloads of an app, or the one that is named. */
function componentsToRead({ components, namespace, name }: App, asked: unknown): readonly string[] {
  const workloads = components.filter(({ type = "workload" }) => type === "workload").map((it) => it.name);
  if (typeof asked === "string" && !workloads.includes(asked)) {
    throw new CliError(
      `There is no workload "${asked}" in ${namespace}/${name}. There are: ${workloads.join(", ")}.`,
      EXIT.notFound,
    );
  }
  if (workloads.length === 0)
    throw new CliError(`${namespace}/${name} has no workload, so it has no log.`, EXIT.notFound);
  return typeof asked === "string" ? [asked] : workloads;
}

/** Prints the lines of one stream until it ends, or until the signal says so. */
export async function printLines(
  call: Call,
  input: Input<"streamRunLogs">,
  signal: AbortSignal,
  isBeside = false,
): Promise<ExitCode | undefined> {
  try {
    for await (const item of call.client.stream("streamRunLogs", input, { signal })) {
      // Where the result of the run is what is asked for, its log goes beside it.
      if (isBeside && item.type === "event") call.info(item.data.line);
      else
        tellLine(
          call,
          item,
          () => "",
          () => true,
        );
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return undefined;
}

function tellLine(
  call: Call,
  item: StreamItem<"streamComponentLogs" | "streamRunLogs">,
  before: (line: LogLine) => string,
  isWanted: (line: LogLine) => boolean,
): void {
  if (item.type === "gap") {
    call.info(
      item.reason === "dropped"
        ? `(${item.count ?? "some"} lines were dropped)`
        : "(reconnected; lines may be missing)",
    );
  }
  if (item.type !== "event" || !isWanted(item.data)) return;
  // A terminal obeys what it is sent, and an app may log what others have sent to it.
  const line = call.host.out.isTerminal ? printable(item.data.line, { colors: true }) : item.data.line;
  call.item(`${before(item.data)}${line}`, item.data);
}

/** Prints what happens from now on, a line for each event. */
export async function events(call: Call, given: GivenFor<"streamEvents">): Promise<ExitCode | undefined> {
  const { project, cluster } = call.asked;
  const query = {
    ...(project === undefined ? {} : { project_id: await call.find.projectId() }),
    ...(cluster === undefined ? {} : { cluster_id: await call.find.clusterId() }),
    ...given.input,
  };
  const limit = limitOf(given);
  const signal = call.host.interrupted;
  return leaving(call, async () => {
    let count = 0;
    for await (const item of call.client.stream("streamEvents", query, { signal })) {
      if (item.type === "open") call.info("Following events. Ctrl-C ends it.");
      if (item.type === "gap") call.info("(reconnected; events may be missing)");
      if (item.type !== "event") continue;
      call.item(eventLine(item.data), item.data);
      if (limit !== undefined && ++count >= limit) return;
    }
  });
}

const KNOWN = new Set(["id", "type", "time", "org_id", "cluster_id", "project_id", "workload_id", "resource"]);

function eventLine(event: Event): string {
  const { time, type, resource } = event;
  const place = [resource.namespace, resource.name].filter(Boolean).join("/");
  const rest = Object.entries(event)
    .filter(
      ([key, value]) => !KNOWN.has(key) && (typeof value === "string" || typeof value === "number") && value !== "",
    )
    .map(([key, value]) => `${key}=${String(value)}`);
  return printable([time.slice(11, 19), type, `${resource.type} ${place}`.trim(), ...rest].join("  "));
}
