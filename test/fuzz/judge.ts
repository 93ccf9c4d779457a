import { type BeyondSchema, isAbout } from "./beyond-schema.ts";
import type { ApiDocument } from "./document.ts";
import type { Request } from "./requests.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Empty where it is a stream, which is left as soon as it begins. */
  readonly text: string;
  readonly elapsedMs: number;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface Item {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

/** Everything that is wrong with an answer, each as a short sentence; findings are grouped by it. */
export function judge(
  document: ApiDocument,
  beyond: readonly BeyondSchema[],
  request: Request,
  answer: Answer,
): string[] {
  const { operation, kind, actor, hasRefusedBody } = request;
  const { status, headers, text } = answer;
  const findings: string[] = [];
  if (status === 500 || status > 504) findings.push(`a ${status}`);
  // Each operation may find the database gone; here it never is. Only a cluster that does not answer is an excuse.
  const asksCluster = operation.answers.has(502) || operation.answers.has(504);
  if (status > 500 && status <= 504 && !asksCluster) findings.push(`a ${status} without a cluster to blame`);
  if (!UUID.test(String(headers["x-request-id"]))) findings.push("no X-Request-Id");
  if (Object.keys(headers).some((name) => name.startsWith("x-ratelimit"))) findings.push("an X-RateLimit header");
  if (status === 401 && headers["www-authenticate"] !== "Bearer") findings.push("a 401 without its challenge");
  if (status === 429 && headers["retry-after"] === undefined) findings.push("a 429 without Retry-After");
  const problem = undocumented(document, request, answer);
  if (problem) findings.push(problem);
  if (actor.isRefused && !operation.isPublic && status < 300) findings.push("a success without a credential");
  if (hasRefusedBody && status < 300) findings.push("a success for a body that the document refuses");
  if (kind === "valid" && status === 422) findings.push(...unexpected(beyond, operation.id, text));
  return findings;
}

function undocumented(document: ApiDocument, { operation }: Request, { status, headers, text }: Answer): string | null {
  const described = operation.answers.get(status);
  if (described === undefined) return `an undocumented ${status}`;
  if (described === null) return text === "" ? null : `a ${status} with a body`;
  const type = String(headers["content-type"] ?? "").split(";")[0];
  if (type !== described.type && !described.otherTypes.includes(type ?? "")) return `a ${status} of type ${type}`;
  if (type !== "application/json") return null;
  const objection = document.objection(described.schema, parsed(text));
  return objection && `a ${status} that its schema refuses: ${objection.replace(/\d+/g, "N").slice(0, 300)}`;
}

function unexpected(beyond: readonly BeyondSchema[], id: string, text: string): string[] {
  const { detail } = parsed(text) as { detail?: readonly Item[] };
  if (!Array.isArray(detail)) return ["a 422 without items"];
  const rules = beyond.filter(({ operations }) => operations.includes(id));
  const surprising = (detail as readonly Item[]).filter(({ loc }) => !rules.some((rule) => isAbout(rule, loc)));
  // By place and type: what the words say of the value would make each finding one of its own.
  const places = surprising.map(
    ({ loc, type }) =>
      `${loc
        .slice(0, 8)
        .join(".")
        .replace(/\b\d+\b/g, "N")} ${type}`,
  );
  return [...new Set(places)].map((place) => `a 422 for a valid request: ${place}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
