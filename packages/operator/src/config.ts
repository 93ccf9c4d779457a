import { type PodSecurity, safeText } from "@binnacle/contract";
import { type Env, type LogLevel, readConfig } from "@binnacle/process";
import { SECRETS, SETTINGS } from "./config/variables.ts";

/** The whole configuration: parsed once at the start, typed, with the secret apart so that the rest can be logged. */
export interface Config {
  readonly hubUrl: string;
  readonly hubProxy: string | null;
  readonly clusterId: string;
  readonly kubeconfig: string | null;
  readonly namespace: string;
  readonly tokenSecret: string | null;
  readonly deployment: string | null;
  readonly pod: string | null;
  readonly helm: string;
  readonly helmSlots: number;
  readonly appsAtOnce: number;
  readonly chartHosts: readonly string[];
  readonly serviceAccount: string | null;
  readonly projectsRole: string | null;
  readonly podSecurityLimit: PodSecurity;
  readonly exec: "on" | "off";
  readonly infrastructure: "on" | "off";
  readonly chartsRole: string;
  readonly ingressAnnotations: readonly string[];
  readonly broadIngresses: "on" | "off";
  readonly clusterChartsAccount: string | null;
  readonly prometheusUrl: string | null;
  readonly healthPort: number;
  readonly logLevel: LogLevel;
  readonly tracesEndpoint: string | null;
  readonly secrets: { readonly token: string };
}

/** Throws ConfigProblems with everything that is wrong, not only with the first of it. */
export function parseConfig(env: Env): Config {
  const program = "the Binnacle operator";
  return readConfig({ program, settings: SETTINGS, secrets: SECRETS, shown: safeText }, env);
}
