import type { CliToken, NewCliToken, Session } from "@binnacle/client";
import { arg, type Command, constant, listing, option, verb } from "../command.ts";
import { ageColumn, column, view } from "../output.ts";

const EXPIRY_WARNING_MS = 7 * 86_400_000;
const TOKEN = view<CliToken>(
  "name",
  column("NAME", "name"),
  column("SCOPES", "scopes"),
  {
    title: "EXPIRES",
    of: ({ expires_at }, nowMs) => {
      const text = expires_at.slice(0, 10);
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
const NEW_TOKEN = view<NewCliToken>(
  "token",
  column("NAME", "name"),
  column("SCOPES", "scopes"),
  column("EXPIRES", "expires_at"),
  column("TOKEN", "token"),
);
const SESSION = view<Session>(
  "id",
  column("ID", "id"),
  column("FROM", "source_address"),
  column("PROGRAM", "user_agent"),
  ageColumn("LAST USED", "last_used_at"),
  ageColumn("AGE", "created_at"),
  { title: "CURRENT", of: ({ current }) => (current ? "yes" : "") },
);
const OF_USER = option("--user <user>", "user_id", "of another user, as a superuser", { kind: "user" });

export const TOKEN_COMMANDS: readonly Command[] = [
  listing("listCliTokens", "tokens list", "List your CLI tokens; those that expire soon are marked", {
    fields: [OF_USER],
    view: TOKEN,
  }),
  verb("createCliToken", "tokens create <name>", "Make a token for automation; it is shown once", {
    fields: [
      arg("<name>", "body.name"),
      option(
        "--scopes <scopes>",
        "body.scopes",
        "with commas: read and write, for installers bundles:read, clusters:read, clusters:register and install:report",
        { kind: "list" },
      ),
      option("--expires-in-days <days>", "body.expires_in_days", "90 unless given", { kind: "integer" }),
      option("--for-org <organization>", "body.org_id", "only for what is in it", { kind: "org" }),
      option("--for-project <project>", "body.project_id", "only for what is in it", { kind: "project" }),
    ],
    takesFile: true,
    view: NEW_TOKEN,
  }),
  verb("deleteCliToken", "tokens delete <token>", "Revoke a token, by name or id", {
    fields: [arg("<token>", "id", "token"), OF_USER],
    confirm: "Revoke the token {token}?",
    done: "Revoked {token}.",
  }),
  listing("listSessions", "sessions list", "List your sessions", { fields: [OF_USER], view: SESSION }),
  verb("endSession", "sessions end <id>", "End a session", {
    fields: [arg("<id>", "id"), OF_USER],
    done: "Ended {id}.",
  }),
  verb("getDeviceLogin", "sessions pending <code>", "Show the device that shows this code", {
    fields: [arg("<code>", "user_code")],
  }),
  verb("decideDeviceLogin", "sessions approve <code>", "Let the device sign in as you", {
    fields: [arg("<code>", "body.user_code"), constant("body.approved", true)],
    confirm: "Let the device with the code {code} act as you?",
    done: "Approved {code}.",
  }),
  verb("decideDeviceLogin", "sessions deny <code>", "Refuse the device", {
    fields: [arg("<code>", "body.user_code"), constant("body.approved", false)],
    done: "Denied {code}.",
  }),
];
