import type { Gitops, GitopsInput, ValidationItem } from "@binnacle/contract";
import type { Selectable } from "kysely";
import type { GitopsSettingsTable } from "../database/gitops-tables.ts";
import { Fault, invalidValue } from "../fault.ts";
import type { HostCheck, HostKey } from "../git/git-host.ts";
import { GitProblem, type GitProblemCode } from "../git/git-problem.ts";

export type GitopsSettings = Selectable<GitopsSettingsTable>;

/** What an organization asks for, with everything that was left out. */
export interface Wanted {
  readonly provider: GitopsSettings["provider"];
  readonly base_url: string;
  readonly owner: string;
  readonly ssh_url: string | null;
  readonly branch: string;
  readonly author_email_domain: string | null;
  readonly key_grace_hours: number;
  /** Null where the stored one stays. */
  readonly token: string | null;
  /** Null where those that the host shows are pinned. */
  readonly hostKeys: readonly string[] | null;
}

const IN_SETTINGS: ValidationItem["loc"] = ["body", "settings", "gitops"];

const IS_PLACE = ["provider", "base_url", "owner", "ssh_url"] as const;

/** Whether the repositories are somewhere else than before. */
export const isMoved = (before: Pick<GitopsSettings, (typeof IS_PLACE)[number]>, after: Wanted): boolean =>
  IS_PLACE.some((field) => before[field] !== after[field]);

/**
 * Completes what was asked for. The stored token stays only where it was meant for: otherwise somebody who may change the address
 * could have it sent to a host of their own.
 */
export function wantedSettings(
  before: GitopsSettings | null,
  input: GitopsInput,
  loc: ValidationItem["loc"] = IN_SETTINGS,
): Wanted | Fault {
  const { provider, owner, branch = "main", author_email_domain = null, key_grace_hours = 24 } = input;
  const { ssh_url = null, token = null } = input;
  const base_url = input.base_url.replace(/\/+$/, "");
  const [wrong] = (["base_url", "ssh_url"] as const).flatMap((field) => addressProblem(field, input[field] ?? null));
  if (wrong) return invalidValue([...loc, wrong.field], wrong.problem);
  const given = { provider, base_url, owner, ssh_url, branch, author_email_domain, key_grace_hours, token };
  const isSamePlace = before !== null && !isMoved(before, { ...given, hostKeys: null });
  if (token === null && (!isSamePlace || before.sealed_token === null)) {
    return invalidValue(
      [...loc, "token"],
      "A token is needed: a stored one is used only at the provider, the address and for the owner for which it was given",
    );
  }
  const pinned = isSamePlace ? before.host_keys.map(({ key }) => key) : [];
  const hostKeys = input.host_keys ?? (pinned.length > 0 ? pinned : null);
  return { ...given, hostKeys };
}

/** A password would be read back with the address. Of SSH the name of the user belongs to it. */
function addressProblem(field: "base_url" | "ssh_url", address: string | null) {
  if (address === null) return [];
  const url = URL.canParse(address) ? new URL(address) : null;
  const hasUser = url !== null && url.username !== "" && url.protocol !== "ssh:";
  if (url && !hasUser && url.password === "" && url.search === "" && url.hash === "") return [];
  return [{ field, problem: "Input should be an address with a host, and without a password, query or fragment" }];
}

const at = (field: string): ValidationItem["loc"] => [...IN_SETTINGS, field];

/** The field that is to be changed for a problem to go away. */
const FIELD_OF: Partial<Record<GitProblemCode, string>> = {
  denied: "token",
  host_key_changed: "host_keys",
  unreachable: "base_url",
  address_refused: "base_url",
  unexpected_answer: "base_url",
};

/** The keys to pin; a problem where the host cannot be used, or does not show any of the keys that it has to. */
export function checkedKeys(wanted: Wanted, check: HostCheck): readonly HostKey[] | Fault {
  const [problem] = check.problems;
  if (problem) return invalidValue(at(FIELD_OF[problem.code] ?? "provider"), problem.message);
  if (wanted.hostKeys === null) return check.hostKeys;
  const asked = new Set(wanted.hostKeys);
  const shown = check.hostKeys.filter(({ key }) => asked.has(key));
  if (shown.length > 0) return shown;
  return invalidValue(at("host_keys"), otherKeys(check.hostKeys));
}

const otherKeys = (shown: readonly HostKey[]) =>
  `The host shows other keys (${shown.map(({ fingerprint }) => fingerprint).join(", ") || "none"}). Ask its operator; if they were renewed, give the new ones as host_keys`;

/** What is missing at the host, found in a test. Keys that are others than the wanted ones come first: nothing else counts then. */
export function problemsOf(wanted: readonly string[] | null, { problems, hostKeys }: HostCheck): HostCheck["problems"] {
  if (wanted === null || hostKeys.length === 0 || !isOtherHost(wanted, hostKeys)) return problems;
  const others = problems.filter(({ code }) => code !== "host_key_changed");
  return [{ code: "host_key_changed", message: `${otherKeys(hostKeys)}.` }, ...others];
}

/** None of the keys is shown, or one of a type with another of that type, which ssh refuses as well. */
function isOtherHost(wanted: readonly string[], shown: readonly HostKey[]): boolean {
  const isWanted = ({ key }: HostKey) => wanted.includes(key);
  const isReplaced = ({ type }: HostKey) =>
    wanted.some((key) => key.startsWith(`${type} `)) && !shown.some((one) => one.type === type && isWanted(one));
  return !shown.some(isWanted) || shown.some(isReplaced);
}

export const shownSettings = (settings: GitopsSettings): Gitops => ({
  provider: settings.provider,
  base_url: settings.base_url,
  owner: settings.owner,
  ssh_url: settings.ssh_url,
  branch: settings.branch,
  author_email_domain: settings.author_email_domain,
  key_grace_hours: settings.key_grace_hours,
  host_keys: [...settings.host_keys],
  signing_key: settings.signing_key,
});

/** For the audit log: keys by their fingerprints, and of a token only that it was given. */
export function auditedGitops(settings: GitopsSettings | null): Record<string, unknown> | null {
  if (!settings?.is_on) return null;
  const { host_keys, ...shown } = shownSettings(settings);
  return { ...shown, host_keys: host_keys.map(({ fingerprint }) => fingerprint).join(", ") };
}

/** A problem of the host as an answer: 503 while it may pass by itself, 502 where somebody has to do something at the host. */
export function hostFault(error: unknown): unknown {
  if (!(error instanceof GitProblem)) return error;
  const message = `Nothing was changed, because the Git host of the organization did not do its part. ${error.message}`;
  return error.code === "unreachable"
    ? new Fault("unavailable", message, { retryAfterSeconds: 30 })
    : new Fault("bad_gateway", message);
}

export const changedMeanwhile = () =>
  new Fault(
    "conflict",
    "The Git host of the organization was changed meanwhile. Read the settings again, and give the token.",
  );

export const gitopsIsOff = () =>
  new Fault("conflict", "The organization has no Git host. Set one as `gitops` in its settings, or give one to test.");
