import type { TerminalSize } from "@binnacle/contract";
import type { ExecOutput, ExecProcess } from "../../packages/operator/src/kube/exec.ts";
import { type Answerer, ExecRefusal } from "../../packages/operator/src/link/ports.ts";

const CHUNK = Buffer.alloc(16 * 1024, "y\n");

/**
 * Commands without a container, by their first word: `cat` repeats its input, `yes` never stops, `sink` never takes its input, `size`
 * says each size of the terminal, and `end` writes to both outputs and ends with the code that follows.
 */
export const simulatedExec: Answerer["exec"] = async ({ component, pod, container, command, size }) => {
  if (pod !== null && pod !== `${component}-0`) {
    throw new ExecRefusal("not_found", `The component ${component} has no pod ${pod}.`);
  }
  return {
    pod: `${component}-0`,
    container: container ?? component,
    start: (output) => started(command, size, output),
  };
};

function started([name, code = "0"]: readonly string[], first: TerminalSize, output: ExecOutput): ExecProcess {
  let isOver = false;
  let isPaused = false;
  const say = (text: string | Buffer, channel: "stdout" | "stderr" = "stdout") => {
    if (!isOver) output.output(channel, Buffer.from(text));
  };
  const end = (exitCode: number) => {
    if (isOver) return;
    isOver = true;
    output.ended({ exitCode });
  };
  const flood = () => {
    if (isOver || isPaused) return;
    say(CHUNK);
    setImmediate(flood);
  };
  const resize = ({ cols, rows }: TerminalSize) => say(`${rows} ${cols}\n`);
  setImmediate(() => {
    if (name === "yes") flood();
    if (name === "size") resize(first);
    if (name === "missing" && !isOver) {
      isOver = true;
      output.ended({ error: "exec: missing: not found" });
    }
    if (name !== "end") return;
    say("hello\n");
    say("oops\n", "stderr");
    end(Number(code));
  });
  return {
    write(data, onTaken) {
      if (name === "sink") return;
      onTaken();
      if (name === "cat") say(data);
    },
    endInput: () => end(0),
    resize: (size) => name === "size" && resize(size),
    pause: () => {
      isPaused = true;
    },
    resume() {
      isPaused = false;
      if (name === "yes") setImmediate(flood);
    },
    cancel: () => {
      isOver = true;
    },
  };
}
