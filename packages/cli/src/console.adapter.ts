import type { Console } from "./host.ts";

const ENDINGS = ["SIGTERM", "SIGHUP"] as const;

/** The terminal of this process, or its pipes. */
export function processConsole(): Console {
  const { stdin, stdout, stderr } = process;
  const isTerminal = stdin.isTTY === true && stdout.isTTY === true;
  return {
    isTerminal,
    size: () => ({ cols: stdout.columns || 80, rows: stdout.rows || 24 }),
    open(isRaw, { onInput, onEnd, onResize }) {
      let isOpen = true;
      const read = (data: Buffer) => {
        stdin.pause();
        void onInput(data).finally(() => {
          if (isOpen) stdin.resume();
        });
      };
      const restore = () => {
        if (!isOpen) return;
        isOpen = false;
        if (isRaw) stdin.setRawMode(false);
        stdin.off("data", read).off("end", onEnd).off("error", onEnd).pause();
        stdout.off("resize", onResize);
        process.off("exit", restore);
        for (const signal of ENDINGS) process.off(signal, leave);
      };
      // A terminal that is left in raw mode shows nothing of what is typed.
      const leave = (signal: NodeJS.Signals) => {
        restore();
        process.kill(process.pid, signal);
      };
      if (isRaw) stdin.setRawMode(true);
      process.once("exit", restore);
      for (const signal of ENDINGS) process.once(signal, leave);
      stdin.on("data", read).on("end", onEnd).on("error", onEnd).resume();
      stdout.on("resize", onResize);
      return restore;
    },
    write: (channel, data) => void (channel === "stdout" ? stdout : stderr).write(data),
  };
}
