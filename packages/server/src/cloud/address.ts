/**
 * The address of a resource as the value of a tag: `aws_instance.agent["agent-1"]` is `aws_instance.agent/agent-1`, because
 * clouds allow no brackets and quotes in all tags.
 */
export function addressTag(address: string): string {
  const keyed = /^([^[\]]+)\["([^"\\]+)"\]$/.exec(address);
  return keyed ? `${keyed[1]}/${keyed[2]}` : address;
}

const TAG = /^([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)+)(?:\/([^"\\[\]\p{Cc}]+))?$/u;

/** Null for a text that is not such a tag: it becomes part of a configuration, and people can write tags. */
export function addressOfTag(tag: string | null | undefined): string | null {
  const match = TAG.exec(tag ?? "");
  if (!match || /[$%]\{/.test(tag ?? "")) return null;
  return match[2] === undefined ? (match[1] ?? null) : `${match[1]}["${match[2]}"]`;
}
