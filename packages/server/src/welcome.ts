/** The texts that a local start prints for the person in front of it. */

/** How the sandbox is when the start is over: `late` where it has not connected in time, `none` where it is left out. */
export type SandboxState = "connected" | "late" | "ended" | "deleted" | "none";

const SANDBOX: Readonly<Record<SandboxState, string>> = {
  connected: "connected: the cluster sandbox of the organization demo",
  late: "not connected yet; the log says when it is",
  ended: "it has ended; the lines above say why. Restart to try again",
  deleted: "its cluster was deleted",
  none: "off",
};

/** Programs wait for this line, so it is printed as soon as the server serves. */
export const servingLine = (url: string): string => `\n  Binnacle is serving at ${url}\n`;

/** `credentials` is null where the first superuser was configured: those are known to whoever did it. */
export function welcome(url: string, credentials: string | null, sandbox: SandboxState): string {
  const lines = [
    ["Console", credentials ? `${url} (sign in as ${credentials})` : url],
    ["API docs", `${url}/docs`],
    ["Sandbox", SANDBOX[sandbox]],
    ["Stop", "Ctrl-C"],
  ] as const;
  return `\n${lines.map(([name, text]) => `  ${`${name}:`.padEnd(10)} ${text}\n`).join("")}\n`;
}
