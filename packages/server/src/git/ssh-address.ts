import type { HostKey } from "./git-host.ts";
import { GitProblem } from "./git-problem.ts";
import { fingerprintOf, readPublicKey } from "./ssh-key.ts";

/** Where a repository is: `ssh://git@git.example.com:2222/acme/cluster.git`. */
export interface SshAddress {
  readonly user: string;
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** The host as one of the web, by which the rules for outbound requests are asked. */
  readonly web: URL;
}

const SSH_PORT = 22;

/** Reads an address of a repository or of a host. Throws GitProblem where it has a form that is not accepted. */
export function sshAddressOf(url: string): SshAddress {
  const [, user = "", authority = "", path = ""] =
    /^ssh:\/\/(?:([A-Za-z0-9_][A-Za-z0-9_.-]{0,31})@)([^/@\s]+)(\/[A-Za-z0-9_./~-]*)?$/.exec(url) ?? [];
  const web = URL.parse(`https://${authority}`);
  // An address of the web has its host in one form; ssh would take some more forms for addresses.
  if (!user || !web?.hostname || web.hostname.startsWith("-") || path.split("/").includes("..")) {
    throw new GitProblem("address_refused", "The address must be like ssh://git@git.example.com/group/name.git.");
  }
  const port = Number(/:(\d+)$/.exec(authority)?.[1] ?? SSH_PORT);
  // 443 is not part of an address of the web.
  if (web.port === "" && port !== 443) web.port = String(port);
  return { user, host: web.hostname, port, path, web };
}

/** The one name of the host in `known_hosts`, so that its keys are pinned to it and not to its address. */
const ALIAS = "git-host";

export const knownHostsFile = (keys: readonly string[]): string => keys.map((key) => `${ALIAS} ${key}\n`).join("");

export interface SshFiles {
  readonly identity: string;
  readonly knownHosts: string;
  /** The address that was checked: the name is not looked up again. */
  readonly address: string;
}

const CONNECT_SECONDS = 10;

/** The whole configuration of ssh: neither that of the machine nor that of a user is read. */
export function sshConfig({ identity, knownHosts, address }: SshFiles): string {
  const options = {
    HostName: address,
    HostKeyAlias: ALIAS,
    IdentityFile: identity,
    IdentitiesOnly: "yes",
    IdentityAgent: "none",
    UserKnownHostsFile: knownHosts,
    GlobalKnownHostsFile: "/dev/null",
    StrictHostKeyChecking: "yes",
    UpdateHostKeys: "no",
    VerifyHostKeyDNS: "no",
    BatchMode: "yes",
    PreferredAuthentications: "publickey",
    ConnectTimeout: CONNECT_SECONDS,
    ConnectionAttempts: 1,
    ServerAliveInterval: CONNECT_SECONDS,
    ServerAliveCountMax: 2,
    ForwardAgent: "no",
    ClearAllForwardings: "yes",
    PermitLocalCommand: "no",
    ControlMaster: "no",
    ControlPath: "none",
    RequestTTY: "no",
    LogLevel: "ERROR",
  };
  return `Host *\n${Object.entries(options)
    .map(([name, value]) => `  ${name} ${value}\n`)
    .join("")}`;
}

const MOST_HOST_KEYS = 10;

/** Reads what `ssh-keyscan` prints: lines with a name, a type and a key. */
export function hostKeysIn(lines: string): readonly HostKey[] {
  const keys = lines.split("\n").flatMap((line) => {
    const key = line.startsWith("#") ? null : readPublicKey(line.replace(/^\S+\s+/, ""));
    return key ? [hostKeyOf(key)] : [];
  });
  return keys.slice(0, MOST_HOST_KEYS).sort((one, other) => (one.type < other.type ? -1 : 1));
}

const hostKeyOf = ({ type, line, blob }: { type: string; line: string; blob: Buffer }): HostKey => ({
  type,
  key: line,
  fingerprint: fingerprintOf(blob),
});
