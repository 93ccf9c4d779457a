import { safeText } from "@binnacle/contract";
import { KubeError } from "../kube/kube-error.ts";
import type { Refusal } from "./desired-store.ts";

/** The cluster will never take it, however often it is tried. */
const HOPELESS = new Set([400, 413, 422]);

/** What the hub is told where the cluster would not take something; what is no answer of the cluster is thrown on. */
export function refusalFor(error: unknown): Refusal {
  if (!(error instanceof KubeError)) throw error;
  return { code: HOPELESS.has(error.status) ? "invalid" : "unable", message: safeText(error.message) };
}

/** An answer that trying again at once will not change, unlike a busy server, a race or no answer at all. */
export const isForPeople = ({ status }: KubeError): boolean =>
  status >= 400 && status < 500 && status !== 409 && status !== 429;
