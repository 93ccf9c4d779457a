import { commandLine } from "@binnacle/cli/command-line";
import { describeCall, type OperationName } from "@binnacle/client";

/** Something that a call holds by its id, and that people call by its name. */
export interface Named {
  readonly id: string;
  readonly name: string;
}

/** Stands for what is not filled in. */
const ELLIPSIS = "…";

/** The `binnacle` command of a call; null where none says it. What is not filled in yet is an ellipsis. */
export function binnacleOf(operation: OperationName, input: object, named: readonly Named[] = []): string | null {
  const names = new Map(named.map(({ id, name }) => [id, name]));
  const typed = (value: unknown): unknown => {
    if (value === "" || (Array.isArray(value) && value.length === 0)) return ELLIPSIS;
    if (typeof value === "string") return names.get(value) ?? value;
    if (Array.isArray(value)) return value.map(typed);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, typed(field)]));
  };
  return commandLine(operation, typed(input) as never);
}

/**
 * The `curl` command of a call, for people who want to script what a dialog does. The token is named by a variable, never
 * written out. Secret fields of the body, and parts of the address that nobody has chosen yet, are left for the reader to fill in.
 */
export function curlOf(origin: string, operation: OperationName, input: Readonly<Record<string, unknown>>): string {
  // An address with an empty part would be that of another operation, and the client refuses to write it.
  const filled = Object.entries(input).map(([key, value]) => [key, value === "" ? ELLIPSIS : value]);
  const { method, target, body } = describeCall(operation, Object.fromEntries(filled));
  const address = `${origin}/api/v1${target}`.replaceAll(encodeURIComponent(ELLIPSIS), ELLIPSIS);
  const lines = [`curl -X ${method} ${quoted(address)}`, `-H "Authorization: Bearer $BINNACLE_TOKEN"`];
  if (body !== undefined)
    lines.push('-H "Content-Type: application/json"', `-d ${quoted(JSON.stringify(withoutSecrets(body)))}`);
  return lines.join(" \\\n  ");
}

/** Text as one argument of a shell command, whatever it holds. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const SECRET = /password|secret|private_key|access_key|token/i;

export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      SECRET.test(key) && field !== null ? ELLIPSIS : withoutSecrets(field),
    ]),
  );
}
