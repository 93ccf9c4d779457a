import type { FetchSettings } from "@binnacle/charts";
import type { HostKey } from "./git-host.ts";
import { GitProblem } from "./git-problem.ts";
import { runProgram } from "./program.adapter.ts";
import { hostKeysIn, type SshAddress } from "./ssh-address.ts";
import { checkedAddress } from "./ssh-session.adapter.ts";

const TIMEOUT_MS = 15_000;
const MOST_BYTES = 64 * 1024;

/** Asks a host for its keys, which people compare with what the host publishes. Throws GitProblem. */
export async function scanHostKeys(
  address: SshAddress,
  settings: Pick<FetchSettings, "allowedHosts" | "resolve"> & { readonly searchPath: string },
  signal?: AbortSignal,
): Promise<readonly HostKey[]> {
  const ip = await checkedAddress(address, settings, signal);
  const { output } = await runProgram({
    program: "ssh-keyscan",
    args: ["-T", "10", "-t", "ed25519,ecdsa,rsa", "-p", String(address.port), ip],
    env: { PATH: settings.searchPath, HOME: "/nonexistent", LC_ALL: "C" },
    maxBytes: MOST_BYTES,
    timeoutMs: TIMEOUT_MS,
    signal,
  });
  const keys = hostKeysIn(output.toString("latin1"));
  if (keys.length > 0) return keys;
  throw new GitProblem("unreachable", "The Git host does not answer to SSH. Its address or its port may be wrong.");
}
