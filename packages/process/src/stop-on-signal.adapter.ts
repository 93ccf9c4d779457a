const ECHO_MS = 1_000;

interface Log {
  info(fields: object, message: string): void;
}

/** On SIGINT and SIGTERM, ends the process with code 0 once `stop` is done. */
export function stopOnSignal(log: Log, stop: () => Promise<void>): void {
  let stoppingSince: number | null = null;
  async function onSignal(signal: string): Promise<void> {
    if (stoppingSince !== null) {
      // A person who does not want to wait; at once it is npm, which passes on the Ctrl-C that we have had already.
      if (performance.now() - stoppingSince > ECHO_MS) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    log.info({ signal }, "stopping");
    await stop();
    log.info({}, "stopped");
    process.exit(0);
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void onSignal(signal));
}
