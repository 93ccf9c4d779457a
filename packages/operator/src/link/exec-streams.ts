import { EXEC_LIMITS, type ExecStream, type HubFrames, LINK_LIMITS, safeText } from "@binnacle/contract";
import type { ExecProcess } from "../kube/exec.ts";
import type { OutgoingFrame } from "./frames.ts";
import { AnswerError, type Answerer, ExecRefusal, type ExecTarget } from "./ports.ts";
import { createStreamTable, type OpenStream, type StreamTable } from "./stream-table.ts";

/** Output is read ahead of the hub's credit by as much as this, and by what is on its way. */
const READ_AHEAD_BYTES = 64 * 1024;

/** The open commands of a session. */
export interface ExecStreams extends StreamTable {
  open(frame: Pick<HubFrames["stream_open"], "id" | "credit_bytes"> & { readonly stream: ExecStream }): void;
  input(frame: HubFrames["stream_input"]): void;
}

export interface ExecStreamsOptions {
  readonly answerer: Pick<Answerer, "exec">;
  readonly onDue: () => void;
  readonly onFailure: (error: unknown) => void;
  /** Sends a frame before those that wait their turn. */
  readonly urgent: (frame: OutgoingFrame) => void;
}

export function createExecStreams({ answerer, onDue, onFailure, urgent }: ExecStreamsOptions): ExecStreams {
  const streams = createStreamTable<ExecStreamState>(EXEC_LIMITS.perCluster);

  return {
    ...streams.table,
    open({ id, stream, credit_bytes }) {
      const start = () => {
        const opened = openExecStream({ ref: id, onDue, onFailure, find: () => answerer.exec(stream) });
        if (credit_bytes > 0) opened.credit(credit_bytes);
        return opened;
      };
      const error = `This cluster has ${EXEC_LIMITS.perCluster} commands in containers open already. Try again later.`;
      streams.open(id, start, () => urgent({ type: "stream_end", ref: id, error, code: "too_many" }));
    },
    input: (frame) => streams.get(frame.ref)?.input(frame),
  };
}

interface ExecStreamState extends OpenStream {
  input(frame: Pick<HubFrames["stream_input"], "data" | "size" | "end">): void;
}

interface StreamOptions {
  readonly ref: string;
  readonly find: () => Promise<ExecTarget>;
  readonly onDue: () => void;
  readonly onFailure: (error: unknown) => void;
}

type Ending = Pick<Extract<OutgoingFrame, { type: "stream_end" }>, "error" | "code" | "exit_code">;

/**
 * One command. It starts with the first credit, which the hub gives once the start is on record. Its output waits here until there is
 * credit for it, and the container's side is paused meanwhile; credit for input is given once the cluster has the input.
 */
function openExecStream({ ref, find, onDue, onFailure }: StreamOptions): ExecStreamState {
  const waiting: { readonly channel: "stdout" | "stderr"; data: Buffer }[] = [];
  let waitingBytes = 0;
  let creditBytes = 0;
  /** Input that the hub may still send. */
  let inputBytes: number = LINK_LIMITS.streamCreditBytes;
  let takenBytes = 0;
  let target: ExecTarget | null = null;
  let isTargetDue = false;
  let process: ExecProcess | null = null;
  let isPaused = false;
  let ending: Ending | null = null;
  let isOver = false;

  function end(given: Ending): void {
    ending ??= given;
    onDue();
  }

  function fail(error: unknown): void {
    if (isOver) return;
    if (error instanceof ExecRefusal || error instanceof AnswerError) {
      end({ error: safeText(error.message), code: error.code });
      return;
    }
    onFailure(error);
    end({ error: "The operator could not start the command.", code: "failed" });
  }

  find().then((found) => {
    if (isOver) return;
    target = found;
    isTargetDue = true;
    start();
    onDue();
  }, fail);

  function start(): void {
    if (process || !target || creditBytes === 0 || isOver || ending) return;
    process = target.start({
      output(channel, data) {
        if (isOver || data.length === 0) return;
        waiting.push({ channel, data });
        waitingBytes += data.length;
        if (waitingBytes >= READ_AHEAD_BYTES && !isPaused) {
          isPaused = true;
          process?.pause();
        }
        onDue();
      },
      ended: (how) =>
        end(
          "exitCode" in how ? { error: null, exit_code: how.exitCode } : { error: safeText(how.error), code: "failed" },
        ),
    });
  }

  /** A part of the output that there is credit for. */
  function nextOutput(): OutgoingFrame | null {
    const [first] = waiting;
    const size = Math.min(first?.data.length ?? 0, creditBytes, EXEC_LIMITS.frameBytes);
    if (!first || size === 0) return null;
    const data = first.data.subarray(0, size);
    first.data = first.data.subarray(size);
    if (first.data.length === 0) waiting.shift();
    waitingBytes -= size;
    creditBytes -= size;
    if (isPaused && waitingBytes < READ_AHEAD_BYTES) {
      isPaused = false;
      process?.resume();
    }
    return { type: "stream_output", ref, channel: first.channel, data: data.toString("base64") };
  }

  return {
    next() {
      if (isOver) return null;
      if (isTargetDue && target) {
        isTargetDue = false;
        const { pod, container } = target;
        return { type: "stream_target", ref, pod, container, credit_bytes: LINK_LIMITS.streamCreditBytes };
      }
      if (takenBytes > 0) {
        const credit_bytes = takenBytes;
        inputBytes += takenBytes;
        takenBytes = 0;
        return { type: "stream_credit", ref, credit_bytes };
      }
      const output = nextOutput();
      if (output) return output;
      if (!ending || waitingBytes > 0) return null;
      isOver = true;
      return { type: "stream_end", ref, ...ending };
    },
    input({ data, size, end: isEnd }) {
      if (!process || isOver || ending) return;
      if (size) process.resize(size);
      if (data !== undefined) {
        const bytes = Buffer.from(data, "base64");
        inputBytes -= bytes.length;
        if (inputBytes < 0) {
          process.cancel();
          end({ error: "The hub has sent more input than it may.", code: "failed" });
          return;
        }
        process.write(bytes, () => {
          takenBytes += bytes.length;
          onDue();
        });
      }
      if (isEnd) process.endInput();
    },
    credit(bytes) {
      creditBytes += bytes;
      start();
      onDue();
    },
    cancel() {
      isOver = true;
      process?.cancel();
      waiting.length = 0;
    },
  };
}
