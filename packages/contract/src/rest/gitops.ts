import Type, { type Static } from "typebox";
import { Nullable, strict, Timestamp, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { holds, where } from "../rules.ts";

const tag = "GitOps";

export const GITOPS_PROVIDERS = ["gitea", "github", "gitlab", "gitolite"] as const;
export type GitopsProvider = (typeof GITOPS_PROVIDERS)[number];

/** A known_hosts line without the name. */
const HOST_KEY = "^[a-z0-9@.-]+ [A-Za-z0-9+/=]+$";

const HOST_KEY_EXAMPLE = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c";

const fields = {
  provider: Type.Enum(GITOPS_PROVIDERS, { description: "What kind of host it is.", examples: ["gitea"] }),
  base_url: Type.String({
    minLength: 1,
    maxLength: 2000,
    pattern: "^(https?|ssh)://[A-Za-z0-9_\\[][!-~]*$",
    description: "Where the host is: the address of its pages, and `ssh://git@host:port` for gitolite.",
    examples: ["https://git.example.com"],
  }),
  owner: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: "^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(/[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)*$",
    description:
      "The organization, group or user at the host in which the repositories are made; a folder for gitolite.",
    examples: ["platform"],
  }),
  ssh_url: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 2000,
      pattern: "^ssh://[A-Za-z0-9_\\[][!-~]*$",
      description: "Where repositories are reached by SSH; null for `ssh://git@` and the host of `base_url`.",
      examples: ["ssh://git@git.example.com:2222"],
    }),
  ),
  branch: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: "^[A-Za-z0-9][A-Za-z0-9_-]*$",
    description: "The branch that is written in every repository.",
    examples: ["main"],
  }),
  author_email_domain: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: "^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$",
      description: "Authors are `<username>@<domain>`; with null they have the addresses of their accounts.",
      examples: ["users.noreply.example.com"],
    }),
  ),
  key_grace_hours: Type.Integer({
    minimum: 0,
    maximum: 720,
    description: "How long a superseded key of a cluster goes on working at the host.",
    examples: [24],
  }),
};

const HostKey = Type.Object(
  {
    type: Type.String({ examples: ["ssh-ed25519"] }),
    key: Type.String({
      description: "A line of `known_hosts` without the name.",
      examples: ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI…"],
    }),
    fingerprint: Type.String({ examples: ["SHA256:uNiVztksCsDhcc0u9e8BrqwvHuLvS5sVCLj9vUZYJg8"] }),
  },
  { title: "GitHostKey" },
);

export const Gitops = Type.Object(
  {
    ...fields,
    host_keys: Type.Array(HostKey, {
      description: "The keys that the host has to show. They were pinned when it was set.",
    }),
    signing_key: Type.String({
      description: "The public key of which every commit has a signature, as OpenSSH writes it.",
      examples: ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI… binnacle"],
    }),
  },
  { title: "Gitops", description: "Where the desired state of the clusters is kept in Git. The token is not shown." },
);
export type Gitops = Static<typeof Gitops>;

/** A token is sent in a header of each request. */
const oneLine = where(
  holds("provider", ["gitea", "github", "gitlab"]),
  "A token of this provider is one line of printable ASCII, without spaces around it",
  { fields: { token: { type: "string", pattern: "^[!-~]([ -~]*[!-~])?$" } } },
);

export const GitopsInput = Type.Object(
  {
    provider: fields.provider,
    base_url: fields.base_url,
    owner: fields.owner,
    ssh_url: Type.Optional(fields.ssh_url),
    token: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 16_384,
        pattern: "^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]+$",
        description:
          "Makes repositories and keys; for gitolite the private key of its administrator, and else one line. Written and never read back. Left " +
          "out, the stored one stays, unless the provider, the address or the owner changes.",
        examples: ["<GIT_HOST_TOKEN>"],
      }),
    ),
    branch: Type.Optional({
      ...fields.branch,
      description: "The branch that is written in every repository; `main` where it is left out.",
    }),
    author_email_domain: Type.Optional(fields.author_email_domain),
    host_keys: Type.Optional(
      Type.Array(Type.String({ maxLength: 4200, pattern: HOST_KEY, examples: [HOST_KEY_EXAMPLE] }), {
        maxItems: 20,
        uniqueItems: true,
        description:
          "The keys that the host has to show. Left out, those that were pinned stay, and at the first time those that it " +
          "shows are pinned; compare them with what the host's operator publishes.",
      }),
    ),
    key_grace_hours: Type.Optional({
      ...fields.key_grace_hours,
      description: "How long a superseded key of a cluster goes on working at the host; 24 where it is left out.",
    }),
  },
  { ...strict, allOf: [oneLine], title: "GitopsInput" },
);
export type GitopsInput = Static<typeof GitopsInput>;

export const GITOPS_PROBLEMS = [
  "unreachable",
  "denied",
  "host_key_changed",
  "address_refused",
  "missing_repository",
  "refused",
  "too_large",
  "unreadable",
  "git_missing",
  "unexpected_answer",
  "not_set_up",
] as const;
export type GitopsProblemCode = (typeof GITOPS_PROBLEMS)[number];

const Problem = Type.Object(
  {
    code: Type.Enum(GITOPS_PROBLEMS, { examples: ["denied"] }),
    message: Type.String({
      description: "What is missing, and what to do.",
      examples: ["The host does not know the token."],
    }),
  },
  { title: "GitopsProblem" },
);

export const GitopsTest = Type.Object(
  {
    ok: Type.Boolean({ description: "Whether repositories and keys can be made." }),
    tested_at: Timestamp(),
    problems: Type.Array(Problem),
    host_keys: Type.Array(HostKey, { description: "The keys that the host shows now; nothing is pinned by a test." }),
  },
  { title: "GitopsTest" },
);
export type GitopsTest = Static<typeof GitopsTest>;

export const testGitops = operation({
  id: "testGitops",
  method: "POST",
  path: "/orgs/{id}/gitops/test",
  tag,
  summary: "Test the Git host of an organization; org admin",
  description:
    "Tests the settings of the body, or those that are set, and changes nothing. What does not work is in `problems`. " +
    "After too many tests: 429.",
  credentials: "user",
  params: Type.Object({ id: Uuid() }),
  body: Type.Object({ gitops: Type.Optional(GitopsInput) }, strict),
  bodyIsOptional: true,
  success: [200, GitopsTest],
  failures: [403, 404, 409, 429],
});

/** What an agent needs to read and write the repository of its cluster. */
export const RepoCredential = Type.Object(
  {
    key_id: Uuid(),
    repo_url: Type.String({ examples: ["ssh://git@git.example.com/platform/production-5d11.git"] }),
    branch: Type.String({ examples: ["main"] }),
    private_key: Type.String({ examples: ["<PRIVATE_KEY>"] }),
    fingerprint: Type.String({ examples: ["SHA256:uNiVztksCsDhcc0u9e8BrqwvHuLvS5sVCLj9vUZYJg8"] }),
    host_keys: Type.Array(Type.String({ examples: ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI…"] }), {
      description: "Lines of `known_hosts` without the name.",
    }),
    host_key_fingerprints: Type.Array(
      Type.String({ examples: ["SHA256:uNiVztksCsDhcc0u9e8BrqwvHuLvS5sVCLj9vUZYJg8"] }),
    ),
    expires_at: {
      ...Nullable(Timestamp()),
      description: "Null: it works until a newer one has been proven and the time of grace is over.",
    },
  },
  { title: "RepoCredential" },
);
export type RepoCredential = Static<typeof RepoCredential>;

export const GITOPS_STATES = ["off", "waiting", "in_sync", "pending", "failing", "ahead", "unknown"] as const;
export type GitopsState = (typeof GITOPS_STATES)[number];

const Commit = Type.String({
  description: "The id of a commit.",
  examples: ["3f786850e387550fdab836ed7e6dc881de23001b"],
});

export const DeploymentCommit = Type.Object(
  {
    id: Commit,
    url: Nullable(Type.String({ examples: ["https://git.example.com/platform/production-5d11/commit/3f786850"] })),
  },
  { title: "DeploymentCommit" },
);
export type DeploymentCommit = Static<typeof DeploymentCommit>;

const KEY_STATES = ["unproven", "current", "superseded"] as const;

export const ClusterGitops = Type.Object(
  {
    cluster_id: Uuid(),
    state: Type.Enum(GITOPS_STATES, {
      description:
        "`off`: not set up. `waiting`: nothing has been written yet. `in_sync`: the head has all changes. `pending`: changes " +
        "wait to be written. `failing`: the last try failed, and is repeated. `ahead`: somebody else has pushed; nothing is " +
        "written until the head is ours again. `unknown`: the head was not seen for three hours.",
      examples: ["in_sync"],
    }),
    url: Nullable(Type.String({ examples: ["ssh://git@git.example.com/platform/production-5d11.git"] })),
    branch: Nullable(Type.String({ examples: ["main"] })),
    head: Nullable(
      Type.Object(
        {
          id: Commit,
          revision: Type.Integer({ description: "The revision of the cluster's desired state.", examples: [42] }),
          at: Timestamp("When it was written."),
          url: Nullable(Type.String()),
        },
        { title: "GitopsHead" },
      ),
    ),
    foreign_head: {
      ...Nullable(Commit),
      description: "The commit of somebody else that was found; null unless `ahead`.",
    },
    observed_at: {
      ...Nullable(Timestamp()),
      description:
        "When the head at the host was last seen, which is looked at once an hour; null before the first time.",
    },
    pending: Type.Object(
      {
        changes: Type.Integer({ examples: [3] }),
        since: Nullable(Timestamp("Of the oldest.")),
      },
      { title: "GitopsPending" },
    ),
    error: Nullable(
      Type.Object(
        { code: Type.Enum(GITOPS_PROBLEMS), message: Type.String(), at: Timestamp() },
        { title: "GitopsError" },
      ),
    ),
    next_try_at: Nullable(Timestamp("While the host does not answer.")),
    signing_key: Nullable(Type.String({ description: "Every commit has a signature of it." })),
    keys: Type.Array(
      Type.Object(
        {
          id: Uuid(),
          fingerprint: Type.String(),
          state: Type.Enum(KEY_STATES, {
            description:
              "`unproven`: nothing has been pushed with it yet, so it supersedes no other. `superseded`: it is removed at `removed_at`.",
          }),
          created_at: Timestamp(),
          proven_at: Nullable(Timestamp()),
          removed_at: Nullable(Timestamp()),
        },
        { title: "GitopsKey" },
      ),
      { description: "The keys of agents, newest first." },
    ),
  },
  { title: "ClusterGitops" },
);
export type ClusterGitops = Static<typeof ClusterGitops>;

export const getClusterGitops = operation({
  id: "getClusterGitops",
  method: "GET",
  path: "/clusters/{id}/gitops",
  tag,
  summary: "Read how far the desired state of a cluster has been written to Git",
  credentials: "user",
  params: Type.Object({ id: Uuid() }),
  success: [200, ClusterGitops],
  failures: [404],
});
