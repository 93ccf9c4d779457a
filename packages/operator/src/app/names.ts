import { createHash } from "node:crypto";
import { LONGEST_NAMES_TOGETHER } from "@binnacle/contract";

const LONGEST_LABEL = 63;
const HASH_LENGTH = 8;

export const shortHash = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, HASH_LENGTH);

/** The name itself, or its beginning and a hash that keeps it apart from others with the same beginning. */
function fitted(name: string, longest: number): string {
  if (name.length <= longest) return name;
  return `${name.slice(0, longest - HASH_LENGTH - 1).replace(/-+$/, "")}-${shortHash(name)}`;
}

/** Names of the objects that a component becomes. */
export interface ComponentNames {
  /** Of Services, Ingresses, autoscalers and budgets, of accounts and releases, and of what runs for good. */
  readonly base: string;
  /** Of a StatefulSet or a CronJob: Kubernetes appends a hash or a time, and 63 characters are the most. */
  readonly suffixable: string;
  /** The Service that gives each replica of a StatefulSet a name of its own. */
  readonly headless: string;
  readonly env: string;
  /** The ConfigMap of files that are not secret. */
  readonly files: string;
  readonly secrets: string;
  /** The Secret of exports that are made of the component's secrets. */
  readonly composed: string;
  readonly tls: string;
  claim(volume: string): string;
  /** A Job cannot change, so another template is another Job. */
  job(templateHash: string): string;
}

export function componentNames(app: string, component: string): ComponentNames {
  const base = `${app}-${component}`;
  return {
    base,
    suffixable: fitted(base, LONGEST_NAMES_TOGETHER),
    headless: `${base}-headless`,
    env: `${base}-env`,
    files: `${base}-files`,
    secrets: `${base}-secrets`,
    composed: `${base}-composed`,
    tls: `${base}-tls`,
    claim: (volume) => fitted(`${base}-${volume}`, LONGEST_LABEL),
    job: (templateHash) => `${base}-${templateHash}`,
  };
}
