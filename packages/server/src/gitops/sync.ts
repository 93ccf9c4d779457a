import type { Selectable } from "kysely";
import type { GitopsOutboxTable, GitopsRepositoryTable } from "../database/gitops-tables.ts";
import { commitOf, type Sign } from "../git/commit.ts";
import { blobOf, type GitObject } from "../git/object.ts";
import { changedTree, filesOf, type Tree } from "../git/tree.ts";
import { README, README_PATH } from "./content.ts";

export type OutboxRow = Selectable<GitopsOutboxTable>;
export type Repository = Selectable<GitopsRepositoryTable>;

type Standing =
  /** The branch is where it was left. */
  | "ours"
  /** A push has arrived whose end nobody has seen. */
  | "arrived"
  /** Somebody else has pushed, or has taken commits away. */
  | "foreign";

/** Compares the head at the host with what is on record. */
export function standingOf(
  { head, pushing_head }: Pick<Repository, "head" | "pushing_head">,
  atHost: string | null,
): Standing {
  if (atHost === head) return "ours";
  return pushing_head !== null && atHost === pushing_head ? "arrived" : "foreign";
}

/** Small enough that a push takes seconds. */
const MOST_COMMITS_AT_ONCE = 100;
const MOST_BYTES_AT_ONCE = 16 * 1024 * 1024;

/**
 * The next rows to write: those of changes up to a limit, or one of the whole state alone, which has all that is behind it as well.
 */
export function nextRows(rows: readonly OutboxRow[]): readonly OutboxRow[] {
  const [first] = rows;
  if (!first || first.files === null) return rows.slice(0, 1);
  let bytes = 0;
  const end = rows.findIndex((row, index) => {
    bytes += row.bytes;
    return row.files === null || index >= MOST_COMMITS_AT_ONCE || (index > 0 && bytes > MOST_BYTES_AT_ONCE);
  });
  return end === -1 ? rows : rows.slice(0, end);
}

/** What is to be pushed together. */
export interface Batch {
  readonly objects: readonly GitObject[];
  /** Null where there is nothing to write. */
  readonly head: string | null;
  /** All changes up to this revision of the cluster are in it. */
  readonly revision: number;
  readonly commits: readonly CommitOfChange[];
}

interface CommitOfChange {
  readonly commit: string;
  readonly revision: number;
  readonly resources: OutboxRow["resources"];
}

const BINNACLE = { name: "Binnacle", email: "binnacle@localhost" };

/** The commits of changes, each on the one before. The same rows on the same head give the same commits. */
export function commitsOf(rows: readonly OutboxRow[], head: string | null, before: Tree, sign: Sign): Batch {
  const objects: GitObject[] = [];
  const commits: CommitOfChange[] = [];
  let [tree, parent] = [before, head];
  for (const row of rows) {
    const change = changedTree(tree, blobsOf(row.files ?? {}, parent === null));
    const commit = commitOf(draftOf(row, change.tree.id, parent), sign);
    objects.push(...change.objects, commit);
    commits.push({ commit: commit.id, revision: row.revision, resources: row.resources });
    [tree, parent] = [change.tree, commit.id];
  }
  return { objects, head: rows.length > 0 ? parent : null, revision: rows.at(-1)?.revision ?? 0, commits };
}

/** The commit of a whole state, with which the repository has exactly these files; none where it has them already. */
export function stateCommit(
  row: Pick<OutboxRow, "at" | "summary" | "request_id" | "audit_id">,
  state: {
    readonly files: ReadonlyMap<string, string>;
    readonly revision: number;
    readonly resources: OutboxRow["resources"];
  },
  head: string | null,
  before: Tree,
  sign: Sign,
): Batch {
  const changes = new Map<string, GitObject | null>([...state.files].map(([path, text]) => [path, blobOf(text)]));
  for (const path of filesOf(before).keys()) if (!changes.has(path)) changes.set(path, null);
  const change = changedTree(before, changes);
  if (change.tree.id === before.id && head !== null)
    return { objects: [], head: null, revision: state.revision, commits: [] };
  const draft = draftOf({ ...row, author_name: null, author_email: null }, change.tree.id, head);
  const commit = commitOf(draft, sign);
  const commits = [{ commit: commit.id, revision: state.revision, resources: state.resources }];
  return { objects: [...change.objects, commit], head: commit.id, revision: state.revision, commits };
}

type Drafted = Pick<OutboxRow, "at" | "summary" | "request_id" | "audit_id" | "author_name" | "author_email">;

function draftOf(row: Drafted, tree: string, parent: string | null) {
  const author = row.author_email === null ? BINNACLE : { name: row.author_name ?? "", email: row.author_email };
  return {
    tree,
    parents: parent === null ? [] : [parent],
    author: { ...author, at: row.at },
    committer: { ...BINNACLE, at: row.at },
    subject: row.summary,
    trailers: [
      ...(row.audit_id === null ? [] : [["Binnacle-Audit-Id", row.audit_id] as const]),
      ...(row.request_id === null ? [] : [["Binnacle-Request-Id", row.request_id] as const]),
    ],
  };
}

const blobsOf = (files: Readonly<Record<string, string | null>>, isFirst: boolean) =>
  new Map([
    ...(isFirst ? [[README_PATH, blobOf(README)] as const] : []),
    ...Object.entries(files).map(([path, text]) => [path, text === null ? null : blobOf(text)] as const),
  ]);

const FIRST_RETRY_SECONDS = 5;
const LONGEST_RETRY_SECONDS = 60;
/** The head of somebody else stays until people do something about it. */
export const LOOK_AGAIN_SECONDS = 300;

/** A host that is down is asked once a minute, so that what waits is written soon after it is back. */
export const retryInSeconds = (failures: number): number =>
  Math.min(FIRST_RETRY_SECONDS * 2 ** Math.min(failures, 10), LONGEST_RETRY_SECONDS);

/** The name of a cluster's repository at the host: one segment, told apart by the end of its id. */
export function repositoryName({ id, name }: { readonly id: string; readonly name: string }): string {
  const slug = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, 40)
    .replace(/-+$/, "");
  return `${slug || "cluster"}-${id.replaceAll("-", "").slice(-8)}`;
}

/** The paths at which a repository differs from what it should have. */
export function differingPaths(
  wanted: ReadonlyMap<string, string>,
  found: ReadonlyMap<string, { readonly mode: string; readonly id: string }>,
): string[] {
  const isSame = (path: string) => {
    const [text, file] = [wanted.get(path), found.get(path)];
    return text !== undefined && file?.mode === "100644" && file.id === blobOf(text).id;
  };
  return [...new Set([...wanted.keys(), ...found.keys()])].filter((path) => !isSame(path)).sort();
}
