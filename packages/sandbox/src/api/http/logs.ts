import { simulatedCommand } from "../../kubelet/shell.ts";
import type { KubeObject } from "../../store/kube-object.ts";
import { badRequest } from "../fault.ts";
import type { LogLine, LogPlace, LogSource } from "../ports.ts";
import { recordsAt, textAt } from "../validation/metadata.ts";
import { type ApiRequest, type ApiResponse, streaming, text } from "./message.ts";
import { isTrue } from "./options.ts";

/** The log of a container, followed where the request asks for it. */
export function logs(source: LogSource, pod: KubeObject, { query }: ApiRequest, nowMs: number): ApiResponse {
  const place: LogPlace = {
    pod,
    container: containerOf(pod, query.get("container")),
    previous: isTrue(query.get("previous")),
  };
  const { name } = pod.metadata;
  const kept = source.read(place);
  if (!kept) {
    if (place.previous)
      throw badRequest(
        `previous terminated container ${JSON.stringify(place.container)} in pod ${JSON.stringify(name)} not found`,
      );
    throw badRequest(
      `container ${JSON.stringify(place.container)} in pod ${JSON.stringify(name)} is waiting to start: ContainerCreating`,
    );
  }
  const written = (line: LogLine) =>
    `${isTrue(query.get("timestamps")) ? `${nanoTime(line.atMs)} ` : ""}${line.text}\n`;
  const body = chosen(kept, query, nowMs).map(written).join("");
  if (!isTrue(query.get("follow"))) return text(200, body);
  return streaming((sink) => {
    if (body !== "") sink.write(body);
    return source.follow(place, (line) => {
      if (line) sink.write(written(line));
      else sink.end();
    });
  }, "text/plain");
}

/** A command in a container that runs. */
export function exec(source: LogSource, pod: KubeObject, { query }: ApiRequest): ApiResponse {
  const container = containerOf(pod, query.get("container"));
  const { name } = pod.metadata;
  const status = recordsAt(pod, "status", "containerStatuses").find((one) => textAt(one, "name") === container);
  const isRunning = (status?.["state"] as { running?: unknown } | undefined)?.running !== undefined;
  if (!isRunning || !source.read({ pod, container, previous: false })) {
    throw badRequest(`container ${JSON.stringify(container)} in pod ${JSON.stringify(name)} is not running`);
  }
  const command = query.getAll("command");
  if (command.length === 0) throw badRequest("you must specify at least one command for the container");
  const tty = isTrue(query.get("tty"));
  return { status: 101, headers: {}, command: simulatedCommand({ pod: name, container, command, tty }) };
}

function containerOf(pod: KubeObject, asked: string | null): string {
  const names = [...recordsAt(pod, "spec", "initContainers"), ...recordsAt(pod, "spec", "containers")].map((one) =>
    textAt(one, "name"),
  );
  const [first = ""] = recordsAt(pod, "spec", "containers").map((one) => textAt(one, "name"));
  if (!asked && recordsAt(pod, "spec", "containers").length > 1) {
    throw badRequest(
      `a container name must be specified for pod ${pod.metadata.name}, choose one of: [${names.join(" ")}]`,
    );
  }
  const name = asked || first;
  if (names.includes(name)) return name;
  throw badRequest(`container ${name} is not valid for pod ${pod.metadata.name}`);
}

function chosen(lines: readonly LogLine[], query: URLSearchParams, nowMs: number): readonly LogLine[] {
  const sinceTime = query.get("sinceTime");
  const sinceSeconds = query.get("sinceSeconds");
  const fromMs = sinceTime
    ? Math.floor(Date.parse(sinceTime) / 1000) * 1000
    : sinceSeconds
      ? nowMs - Number(sinceSeconds) * 1000
      : 0;
  const since = fromMs > 0 ? lines.filter(({ atMs }) => atMs >= fromMs) : lines;
  const tail = query.get("tailLines");
  if (tail === null) return since;
  return Number(tail) === 0 ? [] : since.slice(-Number(tail));
}

const nanoTime = (atMs: number) => new Date(atMs).toISOString().replace("Z", "000000Z");
