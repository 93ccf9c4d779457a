import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { HeldApp } from "./comparison.ts";
import { dealt } from "./figures.ts";
import type { Answer, Ask, FleetCluster, WorkerState } from "./messages.ts";

const WORKER = fileURLToPath(new URL("./worker.command.ts", import.meta.url));

/** The processes in which the clusters run. */
export interface Crew {
  launch(hubUrl: string, clusters: readonly FleetCluster[]): void;
  states(): Promise<readonly WorkerState[]>;
  held(): Promise<readonly HeldApp[]>;
  stop(): Promise<void>;
}

export function startCrew(processes: number): Crew {
  const children = Array.from({ length: processes }, () => fork(WORKER, { execArgv: ["--max-semi-space-size=8"] }));
  const asked = <T>(ask: Ask, pick: (answer: Answer) => T | null) =>
    Promise.all(children.map((child) => answerTo(child, ask, pick)));
  return {
    launch(hubUrl, clusters) {
      const hands = dealt(clusters, children.length);
      for (const [place, child] of children.entries()) child.send({ launch: { hubUrl, clusters: hands[place] ?? [] } });
    },
    states: () => asked("state", (answer) => (typeof answer === "object" && "state" in answer ? answer.state : null)),
    async held() {
      const held = await asked("held", (answer) =>
        typeof answer === "object" && "held" in answer ? answer.held : null,
      );
      return held.flat();
    },
    async stop() {
      const running = children.filter(isRunning);
      await Promise.all(
        running.map(async (child) => {
          const exited = once(child, "exit");
          await answerTo(child, "stop", (answer) => (answer === "stopped" ? answer : null)).catch(() => undefined);
          if (child.connected) child.disconnect();
          if (isRunning(child)) await exited;
        }),
      );
    },
  };
}

const isRunning = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null;

/** A process of clusters that has ended takes them along, and nothing that is seen afterwards means anything. */
function answerTo<T>(child: ChildProcess, ask: Ask, pick: (answer: Answer) => T | null): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const onMessage = (message: unknown) => {
    const picked = pick(message as Answer);
    if (picked !== null) settle(() => resolve(picked));
  };
  const onExit = () => settle(() => reject(new Error("A process of clusters has ended.")));
  const settle = (then: () => void) => {
    child.off("message", onMessage);
    child.off("exit", onExit);
    then();
  };
  child.on("message", onMessage);
  child.on("exit", onExit);
  if (!isRunning(child) || !child.connected) onExit();
  else child.send(ask);
  return promise;
}

/** The memory of a process. Shared memory, as PostgreSQL's processes use it, counts proportionally. */
export async function takenBytes(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) * 1_024;
}

/** The processes of the PostgreSQL that runs on a folder. */
export async function databaseProcesses(pgdata: string): Promise<number[]> {
  const [first = ""] = (await readFile(join(pgdata, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
  if (!/^\d+$/.test(first)) return [];
  const children = await readFile(`/proc/${first}/task/${first}/children`, "utf8").catch(() => "");
  return [first, ...children.split(" ").filter(Boolean)].map(Number);
}
