import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AddressRefused, createAddressCheck, type FetchSettings, Unreachable } from "@binnacle/charts";
import { GitProblem } from "./git-problem.ts";
import { processFolder, removed } from "./process-folder.adapter.ts";
import { stopped } from "./program.adapter.ts";
import { knownHostsFile, type SshAddress, sshConfig } from "./ssh-address.ts";

export interface SshSettings extends Pick<FetchSettings, "allowedHosts" | "resolve"> {
  /** A private key of OpenSSH without a passphrase. */
  readonly privateKey: string;
  /** What is pinned: `ssh-ed25519 AAAA…`. */
  readonly hostKeys: readonly string[];
  /** Where `git` and `ssh` are looked for. */
  readonly searchPath: string;
}

export interface SshSession {
  /** A folder that nobody else can read, and that is gone afterwards. */
  readonly folder: string;
  readonly config: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The address that ssh connects to. Throws GitProblem. */
export async function checkedAddress(
  { web }: SshAddress,
  settings: Pick<SshSettings, "allowedHosts" | "resolve">,
  signal?: AbortSignal,
): Promise<string> {
  try {
    const addresses = await createAddressCheck(settings)(web, signal);
    // A server without a way to the networks of IPv6 is more common than a host that has only these.
    const first = addresses.toSorted((one, other) => one.family - other.family)[0];
    if (first) return first.address;
    throw new GitProblem("unreachable", "The name of the Git host cannot be resolved.");
  } catch (error) {
    if (error instanceof AddressRefused) {
      throw new GitProblem("address_refused", "The server of Binnacle may not connect to the address of the Git host.");
    }
    if (signal?.aborted) throw stopped(signal);
    if (error instanceof Unreachable)
      throw new GitProblem("unreachable", "The name of the Git host cannot be resolved.");
    throw error;
  }
}

/** Runs what needs the key, which is on the disk only meanwhile. */
export async function withSsh<T>(
  address: SshAddress,
  settings: SshSettings,
  use: (session: SshSession) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const ip = await checkedAddress(address, settings, signal);
  // For its owner alone.
  const folder = await mkdtemp(join(processFolder(), "ssh-"));
  try {
    const [identity, knownHosts, config] = [join(folder, "key"), join(folder, "known_hosts"), join(folder, "config")];
    await writeFile(knownHosts, knownHostsFile(settings.hostKeys), { mode: 0o600 });
    await writeFile(config, sshConfig({ identity, knownHosts, address: ip }), { mode: 0o600 });
    // At last, so that it is there no longer than it is used. OpenSSH refuses a key without a line break at its end.
    await writeFile(identity, `${settings.privateKey.trimEnd()}\n`, { mode: 0o600 });
    return await use({ folder, config, env: { PATH: settings.searchPath, HOME: folder, LC_ALL: "C" } });
  } finally {
    await removed(folder);
  }
}
