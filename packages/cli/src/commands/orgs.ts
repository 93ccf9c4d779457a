import type { AuditEntry, MatrixMember, Member, Organization } from "@binnacle/client";
import { arg, type Command, command, inOrg, listing, option, send, verb } from "../command.ts";
import { ageColumn, column, view } from "../output.ts";

const ORG = view<Organization>(
  "slug",
  column("NAME", "name"),
  column("SLUG", "slug"),
  column("DESCRIPTION", "description"),
  ageColumn("AGE", "created_at"),
  column("ID", "id", true),
);
const MEMBER = view<Member>(
  "email",
  column("NAME", "name"),
  column("EMAIL", "email"),
  column("ROLE", "role"),
  ageColumn("SINCE", "created_at"),
  column("ID", "user_id", true),
);
const roles = (places: readonly { readonly name: string; readonly role: string }[]): string =>
  places.map(({ name, role }) => `${name}: ${role}`).join(", ");
const MATRIX = view<MatrixMember>(
  "email",
  column("NAME", "name"),
  column("EMAIL", "email"),
  column("ROLE", "role"),
  { title: "CLUSTERS", of: ({ clusters }) => roles(clusters) },
  { title: "PROJECTS", of: ({ projects }) => roles(projects) },
  { title: "MORE ROLES", of: ({ more_roles }) => (more_roles > 0 ? { text: String(more_roles), tone: "warn" } : null) },
  column("ID", "user_id", true),
);
const ROLE = ["member", "admin"] as const;
const AUDIT = view<AuditEntry>(
  "id",
  { title: "TIME", of: ({ at }) => at.slice(0, 19).replace("T", " ") },
  { title: "WHO", of: ({ actor }) => actor.email },
  column("VIA", "via"),
  column("ACTION", "action"),
  { title: "RESOURCE", of: ({ resource }) => `${resource.type}${resource.name ? ` ${resource.name}` : ""}` },
  column("CHANGE", "summary"),
  column("FROM", "source_address", true),
  column("REQUEST", "request_id", true),
);

export const ORG_COMMANDS: readonly Command[] = [
  listing("listOrgs", "orgs list", "List your organizations", {
    fields: [option("--all", "all", "all there are; for superusers", { kind: "flag" })],
    view: ORG,
  }),
  verb("getOrg", "orgs show <org>", "Show an organization", { fields: [arg("<org>", "id", "org")], view: ORG }),
  verb("createOrg", "orgs create <name>", "Create an organization", {
    fields: [arg("<name>", "body.name"), option("--description <text>", "body.description", "what it is for")],
    view: ORG,
  }),
  verb("updateOrg", "orgs update <org>", "Rename an organization or describe it", {
    fields: [
      arg("<org>", "id", "org"),
      option("--name <name>", "body.name", "its name"),
      option("--description <text>", "body.description", "what it is for"),
    ],
    takesFile: true,
    view: ORG,
  }),
  verb("deleteOrg", "orgs delete <org>", "Delete an organization that has no clusters", {
    fields: [arg("<org>", "id", "org")],
    confirm: "Delete the organization {org}?",
    done: "Deleted {org}.",
  }),
  verb("getOrgSettings", "orgs settings show", "Show the settings of an organization", { fields: [inOrg("org_id")] }),
  verb("updateOrgSettings", "orgs settings update", "Change settings of an organization", {
    fields: [
      inOrg("org_id"),
      option("--drift-policy <policy>", "body.settings.drift_policy", "what to do about drift", {
        choices: ["heal", "report"],
      }),
    ],
    takesFile: true,
  }),
  listing("listMembers", "members list", "List the members of an organization", {
    fields: [inOrg("id")],
    view: MEMBER,
  }),
  verb("addMember", "members add", "Add a user to an organization", {
    fields: [
      inOrg("id"),
      option("--username <name>", "body.username", "the user by name"),
      option("--email <address>", "body.email", "the user by verified address"),
      option("--role <role>", "body.role", "what they may do", { choices: ROLE, preset: "member" }),
    ],
    view: MEMBER,
  }),
  verb("changeMember", "members change <member>", "Give a member another role", {
    fields: [
      inOrg("id"),
      arg("<member>", "user_id", "member"),
      option("--role <role>", "body.role", "what they may do", { choices: ROLE }),
    ],
    view: MEMBER,
  }),
  verb("removeMember", "members remove <member>", "Remove a member from an organization", {
    fields: [inOrg("id"), arg("<member>", "user_id", "member")],
    confirm: "Remove {member} from the organization?",
    done: "Removed {member}.",
  }),
  listing("listAuditLog", "audit", "Read the audit log of an organization, newest first", {
    fields: [
      inOrg("id"),
      option("--action <beginning>", "action", "only actions that begin like this, such as app."),
      option("--actor <user>", "actor_id", "only by this user", { kind: "user" }),
      option("--type <type>", "resource_type", "only of such resources"),
      option("--resource <id>", "resource_id", "only of this resource"),
      option("--since <time>", "since", "only from this time on, in ISO 8601"),
      option("--until <time>", "until", "only before this time"),
    ],
    limit: 50,
    view: AUDIT,
  }),
  command("exportAuditLog", "audit export", "Print the whole audit log of a time, a JSON document on each line", {
    fields: [
      inOrg("org_id"),
      option("--since <time>", "since", "only from this time on, in ISO 8601"),
      option("--until <time>", "until", "only before this time"),
      option("--cursor <id>", "cursor", "only what follows the entry with this id, such as the last one of a file"),
    ],
    notes: "Oldest first. One that was interrupted goes on with --cursor and the id of the last line.",
    async run(call, { input }) {
      for (let cursor = input.cursor ?? null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
        const part = await send(call, "exportAuditLog", { ...input, ...(cursor === null ? {} : { cursor }) });
        for (const entry of part.data) call.host.out.write(`${JSON.stringify(entry)}\n`);
        cursor = part.next_cursor;
      }
      return undefined;
    },
  }),
  listing(
    "getRoleMatrix",
    "members matrix",
    "Show all members of an organization with their roles on its clusters and projects",
    { fields: [inOrg("id")], view: MATRIX },
  ),
];
