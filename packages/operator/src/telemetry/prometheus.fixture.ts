import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "@binnacle/world/free-port";
import { request } from "undici";
import { vi } from "vitest";

const run = promisify(execFile);

/** Returns whether the programs are installed, as by the packages of a distribution. */
export async function hasPrometheus(): Promise<boolean> {
  const checks = ["prometheus", "promtool"].map((program) => run(program, ["--version"]));
  const outcomes = await Promise.allSettled(checks);
  return outcomes.every(({ status }) => status === "fulfilled");
}

export interface Recorded {
  /** Without `_total`, which counters get. */
  readonly name: string;
  readonly type: "gauge" | "counter";
  readonly labels: Readonly<Record<string, string>>;
  /** By the seconds that have passed since the first sample. */
  readonly value: (seconds: number) => number;
}

const EVERY_SECONDS = 30;

/** As a scraper would have read it. */
function openMetrics(series: readonly Recorded[], startSeconds: number, endSeconds: number): string {
  const families = Map.groupBy(series, ({ name }) => name);
  const text = [...families].flatMap(([name, members]) => [
    `# TYPE ${name} ${members[0]?.type}`,
    ...members.flatMap(({ type, labels, value }) => {
      const set = Object.entries(labels).map(([label, text_]) => `${label}=${JSON.stringify(text_)}`);
      const lines: string[] = [];
      for (let at = startSeconds; at <= endSeconds; at += EVERY_SECONDS) {
        const full = type === "counter" ? `${name}_total` : name;
        lines.push(`${full}{${set.join(",")}} ${value(at - startSeconds)} ${at}`);
      }
      return lines;
    }),
  ]);
  return `${text.join("\n")}\n# EOF\n`;
}

/** An address that the API server forwards to, which it refuses to do to itself. */
export function outerAddress(): string | null {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? null;
}

/** A real Prometheus that has recorded the last two hours. */
export async function startRealPrometheus(host: string, series: readonly Recorded[], nowMs: number) {
  const folder = await mkdtemp(join(tmpdir(), "binnacle-prometheus-"));
  const [text, data, config] = ["metrics.txt", "data", "prometheus.yml"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const end = Math.floor(nowMs / 1_000);
  await writeFile(text, openMetrics(series, end - 7_200, end));
  await writeFile(config, "global: {}\n");
  await run("promtool", ["tsdb", "create-blocks-from", "openmetrics", text, data]);
  const port = await freePort(host);
  const server = spawn(
    "prometheus",
    [`--config.file=${config}`, `--storage.tsdb.path=${data}`, `--web.listen-address=${host}:${port}`],
    { stdio: "ignore" },
  );
  const ended = once(server, "exit");
  const url = `http://${host}:${port}`;
  const stop = async () => {
    server.kill("SIGTERM");
    await ended;
    await rm(folder, { recursive: true });
  };
  try {
    const ready = async () => {
      const { statusCode, body } = await request(`${url}/-/ready`);
      await body.dump();
      if (statusCode !== 200) throw new Error("Prometheus is not ready");
    };
    await vi.waitFor(ready, { timeout: 60_000, interval: 200 });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, port, stop };
}
