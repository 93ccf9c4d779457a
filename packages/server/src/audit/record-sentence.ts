import { LONGEST_SUMMARY } from "@binnacle/contract";

/** What has become of a resource, by the verb of the action. Other verbs are about something of the resource. */
const OUTCOMES: ReadonlyMap<string, string> = new Map([
  ["abandon", "abandoned"],
  ["add", "added"],
  ["approve", "approved"],
  ["attach", "attached"],
  ["cancel", "cancelled"],
  ["create", "created"],
  ["delete", "deleted"],
  ["deny", "denied"],
  ["detach", "detached"],
  ["end", "ended"],
  ["remove", "removed"],
  ["suspend", "suspended"],
  ["unsuspend", "unsuspended"],
]);

interface Recorded {
  readonly action: string;
  readonly resource: { readonly type: string; readonly name: string | null };
  readonly changes?: Readonly<Record<string, unknown>>;
}

/**
 * Says in one line what an entry without changed fields is about: "project shop deleted", "role editor granted to bob on project shop".
 * Returns null for an action of which nothing is known but its name.
 */
export function recordSentence({ action, resource, changes = {} }: Recorded): string | null {
  const verb = action.slice(action.indexOf(".") + 1);
  const sentence =
    resource.type === "role_binding" ? grantSentence(verb, resource, changes) : outcomeOf(verb, resource);
  return sentence && Array.from(sentence).slice(0, LONGEST_SUMMARY).join("");
}

function outcomeOf(verb: string, { type, name }: Recorded["resource"]): string | null {
  const outcome = OUTCOMES.get(verb);
  if (outcome === undefined) return null;
  const noun = type.replaceAll("_", " ").replace(/^cli /, "CLI ");
  return [noun, ...(name === null ? [] : [name]), outcome].join(" ");
}

function grantSentence(verb: string, { name }: Recorded["resource"], changes: Readonly<Record<string, unknown>>) {
  const outcome = { grant: "granted to", revoke: "revoked from" }[verb];
  if (outcome === undefined || name === null) return null;
  const kind = "cluster" in changes ? "cluster" : "project";
  return ["role", changes["role"], outcome, name, "on", kind, changes[kind]].join(" ");
}
