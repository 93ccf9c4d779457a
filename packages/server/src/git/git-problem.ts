/** What can go wrong between Binnacle and a Git host. Callers choose by the code; people read the message. */
export type GitProblemCode =
  /** The host did not answer, or not in time. */
  | "unreachable"
  /** The host knows neither the key nor the token, or they may not do this. */
  | "denied"
  /** The host shows another key than those that were pinned. */
  | "host_key_changed"
  /** The address leads to a network that the server may not connect to. */
  | "address_refused"
  | "missing_repository"
  /** The host declined the change, for example by a hook or because the branch is protected. */
  | "refused"
  /** What the repository brings, or one of its files, is larger than what is accepted. */
  | "too_large"
  /** The repository has something that cannot be read as it should be. */
  | "unreadable"
  /** The program `git` or `ssh` is missing on the server. */
  | "git_missing"
  /** The host's answer has not the published shape. */
  | "unexpected_answer"
  /** A setting of the host is missing; the message says which. */
  | "not_set_up";

/** The message has neither a secret nor text of the host that could contain one. */
export class GitProblem extends Error {
  override readonly name = "GitProblem";
  readonly code: GitProblemCode;

  constructor(code: GitProblemCode, message: string) {
    super(message);
    this.code = code;
  }
}
