import { parseArgs } from "node:util";
import { baseUrl, integer, type Parser } from "../../packages/process/src/index.ts";

/** The options of a rehearsal. */
export interface FleetOptions {
  readonly clusters: number;
  /** Of each cluster. */
  readonly apps: number;
  /** In which the clusters run. */
  readonly processes: number;
  /** Changes a second. */
  readonly pace: number;
  /** Of a control plane that runs already; null starts one of its own, which may be killed. */
  readonly url: string | null;
  readonly username: string;
  readonly password: string;
  /** Leaves what was made. */
  readonly isKept: boolean;
}

export const USAGE = `Usage: npm run fleet -- [options]

  --clusters <n>     simulated clusters, each with an operator (10)
  --apps <n>         apps on each cluster (1)
  --processes <n>    processes in which they run (2)
  --pace <n>         changes a second (20)
  --managed          starts a control plane on a fresh data folder and kills it on the way (the default)
  --url <address>    uses a control plane that runs already, and does not kill it
  --username <name>  who signs in (admin)
  --password <text>  with which password (binnacle); better by the variable FLEET_PASSWORD, which no list of processes shows
  --keep             leaves what was made, and says how to remove it
  --help             this text
`;

type Parsed = { readonly options: FleetOptions } | { readonly problem: string } | { readonly help: true };

const LIMITS = { clusters: 10_000, apps: 100, processes: 64, pace: 10_000 } as const;

export function parseFleetArguments(
  given: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): Parsed {
  try {
    const { values } = parseArgs({ args: [...given], options: OPTIONS, strict: true });
    if (values.help) return { help: true };
    if (values.managed && values.url !== undefined) return { problem: "--managed and --url exclude each other." };
    const count = (name: keyof typeof LIMITS) => fitting(name, values[name], integer(1, LIMITS[name]));
    return {
      options: {
        clusters: count("clusters"),
        apps: count("apps"),
        processes: count("processes"),
        pace: count("pace"),
        url: values.url === undefined ? null : fitting("url", values.url, baseUrl),
        username: values.username,
        password: values.password ?? env["FLEET_PASSWORD"] ?? "binnacle",
        isKept: values.keep,
      },
    };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

const OPTIONS = {
  clusters: { type: "string", default: "10" },
  apps: { type: "string", default: "1" },
  processes: { type: "string", default: "2" },
  pace: { type: "string", default: "20" },
  managed: { type: "boolean", default: false },
  url: { type: "string" },
  username: { type: "string", default: "admin" },
  password: { type: "string" },
  keep: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

function fitting<T>(name: string, text: string, parse: Parser<T>): T {
  try {
    return parse(text);
  } catch (error) {
    throw new Error(`--${name} ${(error as Error).message}.`);
  }
}
