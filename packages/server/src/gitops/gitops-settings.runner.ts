import { randomBytes } from "node:crypto";
import type { GitopsInput } from "@binnacle/contract";
import { requireRoomForCheck } from "../accounts/check-room.runner.ts";
import type { Clock } from "../clock.ts";
import type { Queries, Tx } from "../database/transaction.ts";
import { Fault } from "../fault.ts";
import type { HostCheck } from "../git/git-host.ts";
import { GitProblem } from "../git/git-problem.ts";
import type { Vault } from "../vault/vault.ts";
import { type GitAccess, type HostAccess, sshUrlOf } from "./git-access.ts";
import { endGitops, findGitops, hostAccess, opened, saveGitops } from "./gitops-settings.store.ts";
import {
  auditedGitops,
  checkedKeys,
  type GitopsSettings,
  gitopsIsOff,
  problemsOf,
  type Wanted,
  wantedSettings,
} from "./gitops-settings.ts";

interface Ports {
  readonly db: Queries;
  readonly vault: Vault;
  readonly git: GitAccess;
  readonly clock: Clock;
}

/** A change of the setting that has been checked with the host and is stored with the other settings. */
interface Prepared {
  save(tx: Tx): Promise<{
    readonly before: object | null;
    readonly after: GitopsSettings | null;
    /** For the audit log. */
    readonly changes: Readonly<Record<string, unknown>>;
  }>;
}

const HOST_WITHIN_MS = 20_000;

/** Asks the host before anything is changed. Undefined leaves the setting as it is, and null switches GitOps off. */
export async function prepareGitops(
  ports: Ports,
  orgId: string,
  userId: string,
  input: GitopsInput | null | undefined,
): Promise<Prepared> {
  const { db, vault, git, clock } = ports;
  const shown = (settings: GitopsSettings | null) => (settings?.is_on ? settings : null);
  const unchanged = async (tx: Tx) => ({ before: null, after: shown(await findGitops(tx, orgId)), changes: {} });
  if (input === undefined) return { save: unchanged };
  if (input === null) {
    return {
      async save(tx) {
        const before = auditedGitops(await findGitops(tx, orgId));
        await endGitops(tx, orgId, clock());
        return { before, after: null, changes: { gitops: null } };
      },
    };
  }
  const stored = await findGitops(db, orgId);
  const wanted = wantedSettings(stored, input);
  if (wanted instanceof Fault) throw wanted;
  await requireRoomForCheck(ports, "checks of Git hosts", userId);
  const keys = checkedKeys(wanted, await checkHost(ports, stored, wanted));
  if (keys instanceof Fault) throw keys;
  return {
    async save(tx) {
      const before = auditedGitops(await findGitops(tx, orgId));
      const newSecret = () => randomBytes(32).toString("base64url");
      const after = await saveGitops(tx, { vault, git, newSecret }, orgId, wanted, keys, clock());
      const token = wanted.token === null ? {} : { "gitops.token": "changed" };
      return { before, after, changes: { gitops: auditedGitops(after), ...token } };
    },
  };
}

function checkHost({ vault, git }: Ports, stored: GitopsSettings | null, wanted: Wanted): Promise<HostCheck> {
  const token = wanted.token ?? (stored ? opened(vault, stored, "sealed_token") : "");
  const { provider, base_url: baseUrl, owner, ssh_url } = wanted;
  const hostKeys = (wanted.hostKeys ?? []).map((key) => ({ type: key.split(" ", 1)[0] ?? "", key, fingerprint: "" }));
  return checked(git, { provider, baseUrl, owner, sshUrl: sshUrlOf(baseUrl, ssh_url), token, hostKeys });
}

/** An address or a setting that no host can have is a problem of the check as well. */
async function checked(git: GitAccess, access: HostAccess): Promise<HostCheck> {
  try {
    return await git.host(access).check(AbortSignal.timeout(HOST_WITHIN_MS));
  } catch (error) {
    if (!(error instanceof GitProblem)) throw error;
    return { problems: [{ code: error.code, message: error.message }], hostKeys: [] };
  }
}

/** Asks the host of the given settings, or of those that are set. Nothing is stored. */
export async function testHost(
  ports: Ports,
  orgId: string,
  userId: string,
  input: GitopsInput | undefined,
): Promise<Pick<HostCheck, "problems" | "hostKeys">> {
  const { db, vault, git } = ports;
  const stored = await findGitops(db, orgId);
  if (input === undefined && !stored?.is_on) throw gitopsIsOff();
  const wanted = input ? wantedSettings(stored, input, ["body", "gitops"]) : null;
  if (wanted instanceof Fault) throw wanted;
  await requireRoomForCheck(ports, "checks of Git hosts", userId);
  const pinned = stored?.host_keys.map(({ key }) => key) ?? null;
  const check = await (wanted
    ? checkHost(ports, stored, wanted)
    : checked(git, hostAccess(vault, stored as GitopsSettings)));
  return { problems: problemsOf(wanted ? wanted.hostKeys : pinned, check), hostKeys: check.hostKeys };
}
