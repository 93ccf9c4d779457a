import { GitProblem } from "./git-problem.ts";

/** What ssh, git and the known hosts say where something fails, the more certain ones first. */
const MEANINGS: readonly (readonly [RegExp, () => GitProblem])[] = [
  [
    /Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED|host key is known for/,
    () =>
      new GitProblem(
        "host_key_changed",
        "The Git host shows another key than the one that was accepted. Ask whoever runs the host, then accept the new key.",
      ),
  ],
  [
    /cannot run (?:\S*\/)?ssh|ssh: not found|ssh: No such file|unable to fork/,
    () =>
      new GitProblem("git_missing", "The program ssh is missing on the server of Binnacle. Install openssh-client."),
  ],
  [
    /File too large|Out of memory|out of memory|Cannot allocate memory|died of signal 25|died of signal 31|exceeds maximum allowed size|file size limit exceeded/i,
    () => new GitProblem("too_large", "The Git repository has more than is accepted."),
  ],
  [
    /Repository not found|repository .{0,200}does not exist|not appear to be a git repository|could not be found|Cannot find repository/i,
    () => new GitProblem("missing_repository", "The Git host knows no such repository, or not for this key."),
  ],
  [
    /Permission denied|DENIED|Authentication failed|not authori[sz]ed|marked as read only|Permission to .{0,200} denied|not allowed to/i,
    () =>
      new GitProblem(
        "denied",
        "The Git host does not let this key in. Add it to the repository with the right to write.",
      ),
  ],
  [
    /Could not resolve|Connection (?:refused|timed out|reset|closed)|No route to host|Network is unreachable|kex_exchange|Operation timed out|hung up|early EOF|Broken pipe|Connection to .{0,200} closed/i,
    () => new GitProblem("unreachable", "The Git host cannot be reached, or has broken off."),
  ],
  [
    /fsck error|error in object|invalid index-pack output|bad object|did not send all necessary|inflate/i,
    () => new GitProblem("unreadable", "The Git repository sends what Git cannot read."),
  ],
];

/** What is wrong, in our own words: what a host says could contain anything. */
export function problemOf(errors: string): GitProblem {
  for (const [pattern, problem] of MEANINGS) if (pattern.test(errors)) return problem();
  return new GitProblem("refused", "The Git host refuses the request without a reason that is known.");
}

/** The branch does not exist, so that the repository may be empty. */
export const isMissingBranch = (errors: string): boolean => /couldn't find remote ref/i.test(errors);

export type PushLine = "pushed" | "rejected";

/** Reads what `git push --porcelain` prints for one branch; null where it did not get as far. */
export function pushLineOf(output: string): { readonly result: PushLine; readonly reason: string } | null {
  const [, flag = "", summary = ""] = /^([ *=!+-])\t[^\t\n]+\t([^\n]*)$/m.exec(output) ?? [];
  if (!flag) return null;
  return { result: flag === "!" ? "rejected" : "pushed", reason: plainReason(summary) };
}

const LONGEST_REASON = 200;

/** The reason stands in parentheses. It is the text of a host, so only a short line of plain characters is kept. */
function plainReason(summary: string): string {
  const reason = /\(([^()]*)\)/.exec(summary)?.[1] ?? "";
  return reason
    .replace(/[^\p{L}\p{N} .,:'/_-]+/gu, " ")
    .trim()
    .slice(0, LONGEST_REASON);
}

export interface BatchEntry {
  readonly id: string;
  readonly type: string;
  readonly content: Buffer;
}

/** Reads what `git cat-file --batch` prints; null where one is missing or cut. */
export function batchOf(output: Buffer): readonly BatchEntry[] | null {
  const entries: BatchEntry[] = [];
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(10, at);
    const [, id = "", type = "", size = ""] =
      /^([0-9a-f]{40}) (blob|commit|tree|tag) (\d+)$/.exec(output.subarray(at, end).toString("latin1")) ?? [];
    const from = end + 1;
    const to = from + Number(size);
    if (!id || end === -1 || to >= output.length) return null;
    entries.push({ id, type, content: output.subarray(from, to) });
    at = to + 1;
  }
  return entries;
}
