import { GitProblem } from "../git-problem.ts";
import { fieldOf, type HostApi, idOf, keyIdIn, unexpected } from "./host-api.adapter.ts";

/** Each try loses only where somebody else changes the protection at the same time. */
const MOST_TRIES = 3;

interface Project {
  readonly api: HostApi;
  /** Of the project in the API. */
  readonly path: string;
  readonly name: string;
}

/** Whoever may push to a protected branch: a deploy key, or people. */
interface Pusher {
  readonly id: number;
  readonly keyId: number | null;
}

/** Has exactly these keys push to a branch of GitLab, which lets no deploy key push to a protected branch that does not name it. */
export async function protectFor(
  project: Project,
  { branch, publicKeys }: { readonly branch: string; readonly publicKeys: readonly string[] },
  signal?: AbortSignal,
): Promise<void> {
  const { api, path, name } = project;
  const ids = await idsOf(project, publicKeys, signal);
  // Without a key GitLab would let all maintainers push.
  if (ids.length === 0) throw unexpected(`the deploy keys of ${name}`, 404);
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const pushers = await pushersOf(project, branch, signal);
    if (pushers && (await corrected(project, branch, ids, pushers, signal))) return;
    // The free edition adds keys to a protection and takes nobody out of it. Our keys push to an unprotected branch as well.
    if (pushers) await api.call("DELETE", branchPath(path, branch), undefined, signal);
    const allowed_to_push = ids.map((deploy_key_id) => ({ deploy_key_id }));
    const protection = { name: branch, allow_force_push: false, allowed_to_push };
    const { status } = await api.call("POST", `${path}/protected_branches`, protection, signal);
    if (status !== 201 && status !== 409) throw unexpected(`the protected branches of ${name}`, status);
  }
  throw new GitProblem(
    "refused",
    `GitLab does not keep the protection of the branch ${branch} of ${name} as it is asked to. Only the deploy keys of Binnacle may push there, which takes GitLab 17.5 or newer.`,
  );
}

/** Adds and removes what differs, at no moment open to others. False where something still differs afterwards. */
async function corrected(
  { api, path, name }: Project,
  branch: string,
  ids: readonly number[],
  pushers: readonly Pusher[],
  signal?: AbortSignal,
): Promise<boolean> {
  const allowed_to_push = changesOf(ids, pushers);
  if (allowed_to_push.length === 0) return true;
  const change = { allow_force_push: false, allowed_to_push };
  const { status, body } = await api.call("PATCH", branchPath(path, branch), change, signal);
  if (status !== 200) throw unexpected(`the protected branches of ${name}`, status);
  return changesOf(ids, pushersIn(body)).length === 0;
}

function changesOf(ids: readonly number[], pushers: readonly Pusher[]): object[] {
  const missing = ids.filter((id) => !pushers.some(({ keyId }) => keyId === id));
  const others = pushers.filter(({ keyId }) => keyId === null || !ids.includes(keyId));
  return [...missing.map((deploy_key_id) => ({ deploy_key_id })), ...others.map(({ id }) => ({ id, _destroy: true }))];
}

/** The ids of those of the keys that the repository has. */
async function idsOf(
  { api, path }: Project,
  publicKeys: readonly string[],
  signal?: AbortSignal,
): Promise<readonly number[]> {
  const entries = await api.list(`${path}/deploy_keys`, signal);
  return publicKeys.flatMap((key) => {
    const id = keyIdIn(entries, key);
    return id === null ? [] : [Number(id)];
  });
}

/** Null where the branch is not protected. */
async function pushersOf(
  { api, path, name }: Project,
  branch: string,
  signal?: AbortSignal,
): Promise<readonly Pusher[] | null> {
  const { status, body } = await api.call("GET", branchPath(path, branch), undefined, signal);
  if (status === 404) return null;
  if (status !== 200) throw unexpected(`the protected branches of ${name}`, status);
  return pushersIn(body);
}

/** The entry that lets nobody push is left out. */
function pushersIn(body: unknown): readonly Pusher[] {
  const levels = fieldOf(body, "push_access_levels");
  if (!Array.isArray(levels)) throw unexpected("the protected branch", 200);
  return levels.flatMap((level) => {
    const keyId = Number(fieldOf(level, "deploy_key_id") ?? 0) || null;
    const isNobody = keyId === null && fieldOf(level, "access_level") === 0;
    return isNobody ? [] : [{ id: Number(idOf(level)), keyId }];
  });
}

const branchPath = (path: string, branch: string) => `${path}/protected_branches/${encodeURIComponent(branch)}`;
