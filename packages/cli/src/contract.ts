import { type Client, Forbidden, NotFound } from "@binnacle/client";
import type { Host } from "./host.ts";
import { type ContractCheck, changeState, withContract } from "./state.ts";

/** The oldest contract of a control plane that this program works with. */
export const CONTRACT_FLOOR = 2;

/** Nobody waits longer for an answer that they did not ask for. */
const LONGEST_MS = 5_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A context is checked at its login and then once a day. */
export const isCheckDue = (last: ContractCheck | undefined, nowMs: number): boolean =>
  last === undefined || !(nowMs - Date.parse(last.checked_at) < DAY_MS);

/**
 * Reads the contract and build of the control plane. Null is unknown: the control plane is older than the question, or the token may
 * not ask it. Whatever else fails is thrown.
 */
export async function readVersion(
  client: Client,
  tell: (sentence: string) => void = () => undefined,
): Promise<{ contract: number; build: string | null } | null> {
  const answer = await client.attempt("getVersion", {}, { timeoutMs: LONGEST_MS });
  if (answer.ok) return answer.data;
  const error: unknown = answer.error;
  if (error instanceof NotFound) tell("The control plane does not tell its version.");
  else if (error instanceof Forbidden) tell(`The control plane refuses to tell its version: ${error.message}`);
  else throw error;
  return null;
}

export const contractWarning = (contract: number | null): string | null =>
  contract === null || contract >= CONTRACT_FLOOR
    ? null
    : `warning: this program needs contract ${CONTRACT_FLOOR} or newer; the control plane has ${contract}. Some commands will fail.`;

/** Keeps the contract of a context's control plane, and warns if it is too old for this program. */
export async function noteContract(host: Host, client: Client, name: string): Promise<void> {
  const contract = (await readVersion(client))?.contract ?? null;
  const check = { checked_at: new Date(host.now()).toISOString(), contract };
  await changeState(host, (state) => withContract(state, name, check));
  const warning = contractWarning(contract);
  if (warning) host.err.write(`${warning}\n`);
}
