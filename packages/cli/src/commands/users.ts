import type { User } from "@binnacle/client";
import { arg, type Command, constant, listing, option, verb } from "../command.ts";
import { ageColumn, column, view } from "../output.ts";

const USER = view<User>(
  "username",
  column("USERNAME", "username"),
  column("NAME", "name"),
  column("EMAIL", "email"),
  column("SUPERUSER", "is_superuser"),
  { title: "STATE", of: ({ disabled }) => (disabled ? { text: "disabled", tone: "bad" } : "active") },
  column("TIER", "tier"),
  column("VERIFIED", "email_verified", true),
  ageColumn("AGE", "created_at"),
  column("ID", "id", true),
);

export const USER_COMMANDS: readonly Command[] = [
  listing("listUsers", "users list", "List all users, as a superuser", {
    fields: [option("--search <text>", "search", "only with this text in their name, username or address")],
    view: USER,
  }),
  verb("getUser", "users show <user>", "Show a user", { fields: [arg("<user>", "id", "user")], view: USER }),
  verb("createUser", "users create <username>", "Create a user", {
    fields: [
      arg("<username>", "body.username"),
      option("--name <name>", "body.name", "the full name"),
      option("--email <address>", "body.email", "the address"),
      { from: "--password", to: "body.password", kind: "secret", help: "the password", isRequired: true },
    ],
    view: USER,
  }),
  verb("updateUser", "users update <user>", "Change a user's name, address or password", {
    fields: [
      arg("<user>", "id", "user"),
      option("--name <name>", "body.name", "the full name"),
      option("--new-username <name>", "body.username", "the name to sign in with"),
      option("--email <address>", "body.email", "the address; needs the current password"),
      { from: "--password", to: "body.password", kind: "secret", help: "the new password" },
      { from: "--current-password", to: "body.current_password", kind: "secret", help: "the current password" },
      option("--keep-tokens", "body.keep_tokens", "keep CLI tokens when the password changes", { kind: "flag" }),
    ],
    view: USER,
  }),
  verb("setUserDisabled", "users disable <user>", "End a user's sessions, streams and tokens at once", {
    fields: [arg("<user>", "id", "user"), constant("body.disabled", true)],
    view: USER,
  }),
  verb("setUserDisabled", "users enable <user>", "Let a disabled user sign in again", {
    fields: [arg("<user>", "id", "user"), constant("body.disabled", false)],
    view: USER,
  }),
  verb("setUserTier", "users set-tier <user> <tier>", "Give a user the rate limits of a tier", {
    fields: [arg("<user>", "id", "user"), arg("<tier>", "body.tier")],
    view: USER,
  }),
  verb("verifyUserEmail", "users verify-email <user>", "Declare a user's address verified, as a superuser", {
    fields: [arg("<user>", "id", "user"), option("--email <address>", "body.email", "only if it is still this one")],
    done: "Verified the address of {user}.",
  }),
  verb("deleteUser", "users delete <user>", "Delete a user", {
    fields: [arg("<user>", "id", "user")],
    confirm: "Delete the user {user}?",
    done: "Deleted {user}.",
  }),
];
