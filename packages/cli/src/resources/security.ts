import { arg, type Command, constant, IN_ORG, option, verb } from "../command.ts";
import { ageColumn, column, state, view } from "../output.ts";

const EXPIRY_WARNING_MS = 7 * 86_400_000;
const TOKEN = view(
  "name",
  column("NAME", "name"),
  column("SCOPES", "scopes"),
  {
    title: "EXPIRES",
    of: ({ expires_at }, nowMs) => {
      const text = String(expires_at).slice(0, 10);
      const leftMs = Date.parse(expires_at) - nowMs;
      return leftMs > EXPIRY_WARNING_MS
        ? text
        : { text: leftMs > 0 ? `${text} (soon)` : `${text} (expired)`, tone: leftMs > 0 ? "warn" : "bad" };
    },
  },
  ageColumn("LAST USED", "last_used_at"),
  ageColumn("AGE", "created_at"),
  column("ID", "id"),
);
const NEW_TOKEN = view(
  "token",
  column("NAME", "name"),
  column("SCOPES", "scopes"),
  column("EXPIRES", "expires_at"),
  column("TOKEN", "token"),
);
const SESSION = view(
  "id",
  column("ID", "id"),
  column("FROM", "source_address"),
  column("PROGRAM", "user_agent"),
  ageColumn("LAST USED", "last_used_at"),
  ageColumn("AGE", "created_at"),
  { title: "CURRENT", of: ({ current }) => (current ? "yes" : "") },
);
const AUDIT = view(
  "id",
  { title: "TIME", of: ({ at }) => String(at).slice(0, 19).replace("T", " ") },
  column("WHO", "actor.email"),
  column("VIA", "via"),
  column("ACTION", "action"),
  { title: "RESOURCE", of: ({ resource }) => `${resource.type}${resource.name ? ` ${resource.name}` : ""}` },
  column("CHANGE", "summary"),
  column("FROM", "source_address", true),
  column("REQUEST", "request_id", true),
);
const TIER = view("name", column("NAME", "name"), ageColumn("AGE", "created_at"));
const RATE_LIMIT = view(
  "id",
  column("PATH", "path"),
  column("LIMIT", "limit"),
  column("PERIOD", "period"),
  column("NAME", "name"),
  column("ID", "id"),
);
const TASK = view(
  "id",
  column("ID", "id"),
  column("KIND", "kind"),
  { title: "STATUS", of: ({ status }) => state(status) },
  column("ATTEMPTS", "attempts"),
  column("ERROR", "error_message"),
  ageColumn("AGE", "created_at"),
);
const OF_USER = option("--user <user>", "user_id", "of another user, as a superuser", { kind: "user" });

export const SECURITY_COMMANDS: readonly Command[] = [
  verb({
    usage: "tokens list",
    about: "List your CLI tokens; those that expire soon are marked",
    operation: "listCliTokens",
    fields: [OF_USER],
    isList: true,
    view: TOKEN,
  }),
  verb({
    usage: "tokens create <name>",
    about: "Make a token for automation; it is shown once",
    operation: "createCliToken",
    fields: [
      arg("<name>", "body.name"),
      option(
        "--scopes <scopes>",
        "body.scopes",
        "with commas: read and write, for installers bundles:read, clusters:read, clusters:register and install:report",
        {
          kind: "list",
        },
      ),
      option("--expires-in-days <days>", "body.expires_in_days", "90 unless given", { kind: "integer" }),
      option("--for-org <organization>", "body.org_id", "only for what is in it", { kind: "org" }),
      option("--for-project <project>", "body.project_id", "only for what is in it", { kind: "project" }),
    ],
    takesFile: true,
    view: NEW_TOKEN,
  }),
  verb({
    usage: "tokens delete <token>",
    about: "Revoke a token, by name or id",
    operation: "deleteCliToken",
    fields: [arg("<token>", "id", "token"), OF_USER],
    confirm: "Revoke the token {token}?",
    done: "Revoked {token}.",
  }),
  verb({
    usage: "sessions list",
    about: "List your sessions",
    operation: "listSessions",
    fields: [OF_USER],
    isList: true,
    view: SESSION,
  }),
  verb({
    usage: "sessions end <id>",
    about: "End a session",
    operation: "endSession",
    fields: [arg("<id>", "id"), OF_USER],
    done: "Ended {id}.",
  }),
  verb({
    usage: "sessions pending <code>",
    about: "Show the device that shows this code",
    operation: "getDeviceLogin",
    fields: [arg("<code>", "user_code")],
  }),
  verb({
    usage: "sessions approve <code>",
    about: "Let the device sign in as you",
    operation: "decideDeviceLogin",
    fields: [arg("<code>", "body.user_code"), constant("body.approved", true)],
    confirm: "Let the device with the code {code} act as you?",
    done: "Approved {code}.",
  }),
  verb({
    usage: "sessions deny <code>",
    about: "Refuse the device",
    operation: "decideDeviceLogin",
    fields: [arg("<code>", "body.user_code"), constant("body.approved", false)],
    done: "Denied {code}.",
  }),
  verb({
    usage: "audit",
    about: "Read the audit log of an organization, newest first",
    operation: "listAuditLog",
    fields: [
      IN_ORG,
      option("--action <beginning>", "action", "only actions that begin like this, such as app."),
      option("--actor <user>", "actor_id", "only by this user", { kind: "user" }),
      option("--type <type>", "resource_type", "only of such resources"),
      option("--resource <id>", "resource_id", "only of this resource"),
      option("--since <time>", "since", "only from this time on, in ISO 8601"),
      option("--until <time>", "until", "only before this time"),
    ],
    isList: true,
    limit: 50,
    view: AUDIT,
  }),
  verb({
    usage: "tiers list",
    about: "List the tiers of rate limits",
    operation: "listTiers",
    isList: true,
    view: TIER,
  }),
  verb({
    usage: "tiers limits list <tier>",
    about: "List the rate limits of a tier",
    operation: "listRateLimits",
    fields: [arg("<tier>", "tier_name")],
    isList: true,
    view: RATE_LIMIT,
  }),
  verb({
    usage: "tiers limits show <tier> <id>",
    about: "Show a rate limit",
    operation: "getRateLimit",
    fields: [arg("<tier>", "tier_name"), arg("<id>", "id")],
    view: RATE_LIMIT,
  }),
  verb({
    usage: "tiers limits create <tier> <path>",
    about: "Limit the requests to a path",
    operation: "createRateLimit",
    fields: [
      arg("<tier>", "tier_name"),
      arg("<path>", "body.path"),
      option("--limit <count>", "body.limit", "so many requests", { kind: "integer" }),
      option("--period <seconds>", "body.period", "in so many seconds", { kind: "integer" }),
      option("--name <name>", "body.name", "a name for it"),
    ],
    view: RATE_LIMIT,
  }),
  verb({
    usage: "tiers limits update <tier> <id>",
    about: "Change a rate limit",
    operation: "updateRateLimit",
    fields: [
      arg("<tier>", "tier_name"),
      arg("<id>", "id"),
      option("--path <path>", "body.path", "the path"),
      option("--limit <count>", "body.limit", "so many requests", { kind: "integer" }),
      option("--period <seconds>", "body.period", "in so many seconds", { kind: "integer" }),
      option("--name <name>", "body.name", "a name for it"),
    ],
    view: RATE_LIMIT,
  }),
  verb({
    usage: "tiers limits delete <tier> <id>",
    about: "Delete a rate limit",
    operation: "deleteRateLimit",
    fields: [arg("<tier>", "tier_name"), arg("<id>", "id")],
    confirm: "Delete the rate limit {id}?",
    done: "Deleted {id}.",
  }),
  verb({
    usage: "tasks create <kind>",
    about: "Start a task: ping or resync_cluster",
    operation: "createTask",
    fields: [
      arg("<kind>", "body.kind"),
      option("--of <cluster>", "body.payload.cluster_id", "the cluster to look at again", { kind: "cluster" }),
    ],
    takesFile: true,
  }),
  verb({
    usage: "tasks show <id>",
    about: "Show a task",
    operation: "getTask",
    fields: [arg("<id>", "id")],
    view: TASK,
  }),
];
