import { setTimeout as sleep } from "node:timers/promises";
import { AwsV4Signer } from "aws4fetch";
import { XMLParser } from "fast-xml-parser";
import { type AwsService, endpointOf, isRegion } from "./aws.ts";
import { failureOfError, THROTTLED, unreachable } from "./aws-failure.ts";
import { type CloudAccess, CloudRefusal } from "./provider.ts";

/** An element of an answer: text, or further elements; lists are arrays under `item` or `member`. */
export type Xml = string | readonly Xml[] | { readonly [name: string]: Xml | undefined } | null | undefined;

/** AWS has answered with an error. */
export class AwsError extends CloudRefusal {
  readonly code: string;
  constructor(action: string, code: string, message: string) {
    super(failureOfError({ code, message, action }));
    this.code = code;
  }
}

export interface QueryOptions {
  readonly endpoint?: string | undefined;
  /** How long one attempt of a call may take. */
  readonly deadlineMs: number;
  /** How long to wait before the second attempt; each further wait is twice as long. */
  readonly backOffMs: number;
}

/** Calls an action with parameters as the Query API writes them, such as `Filter.1.Name`. */
export type Query = (
  service: Exclude<AwsService, "servicequotas">,
  action: string,
  parameters: Readonly<Record<string, string>>,
) => Promise<Xml>;

const VERSIONS = {
  ec2: "2016-11-15",
  elasticloadbalancing: "2012-06-01",
  elasticloadbalancingv2: "2015-12-01",
  iam: "2010-05-08",
  sts: "2011-06-15",
} as const;
const ATTEMPTS = 3;

const parser = new XMLParser({
  ignoreAttributes: true,
  parseTagValue: false,
  isArray: (name) => name === "item" || name === "member",
});

export function queries(access: CloudAccess, options: QueryOptions, signal: AbortSignal): Query {
  return async (service, action, parameters) => {
    const body = new URLSearchParams({ Action: action, Version: VERSIONS[service], ...parameters }).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
    const name = `${service.replace(/v2$/, "")}:${action}`;
    const { ok, text } = await sent(access, options, signal, { service, name, body, headers });
    const answer: Xml = parser.parse(text);
    if (ok) return Object.values(answer as Record<string, Xml>).find((value) => typeof value === "object");
    const response = at(answer, "Response") ?? at(answer, "ErrorResponse");
    const error = at(response, "Errors", "Error") ?? at(response, "Error");
    throw new AwsError(name, textAt(error, "Code") ?? "Unknown", textAt(error, "Message") ?? "");
  };
}

/** Service Quotas speaks JSON. */
export async function serviceQuota(
  access: CloudAccess,
  options: QueryOptions,
  signal: AbortSignal,
  quota: { readonly service: string; readonly code: string },
): Promise<number | null> {
  const body = JSON.stringify({ ServiceCode: quota.service, QuotaCode: quota.code });
  const headers = {
    "content-type": "application/x-amz-json-1.1",
    "x-amz-target": "ServiceQuotasV20190624.GetServiceQuota",
  };
  const name = "servicequotas:GetServiceQuota";
  const { ok, text } = await sent(access, options, signal, { service: "servicequotas", name, body, headers });
  if (!ok) return null;
  const value: unknown = JSON.parse(text)?.Quota?.Value;
  return typeof value === "number" ? value : null;
}

interface Call {
  readonly service: AwsService;
  readonly name: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Tries again what may pass: a connection that failed, an answer that says "later". */
async function sent(access: CloudAccess, options: QueryOptions, signal: AbortSignal, call: Call) {
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt === ATTEMPTS;
    try {
      const answer = await attempted(access, options, signal, call);
      if (answer.ok || isLast || !mayPass(answer)) return answer;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof CloudRefusal) throw error;
      if (isLast) throw new CloudRefusal(unreachable(reasonOf(error)));
    }
    await sleep(options.backOffMs * 2 ** (attempt - 1), undefined, { signal });
  }
}

async function attempted(access: CloudAccess, options: QueryOptions, signal: AbortSignal, call: Call) {
  if (!isRegion(access.region)) {
    throw new CloudRefusal({
      code: "not_offered",
      message: `AWS has no region ${access.region}. Use one that AWS has, such as eu-central-1, in the credential or for a new cluster.`,
    });
  }
  const place = endpointOf(call.service, access.region);
  const request = await new AwsV4Signer({
    method: "POST",
    url: `${options.endpoint ?? place.url}/`,
    headers: call.headers,
    body: call.body,
    accessKeyId: access.accessKeyId,
    secretAccessKey: access.secretAccessKey,
    service: call.service.replace(/v2$/, ""),
    region: place.region,
  }).sign();
  const response = await fetch(request.url, {
    method: "POST",
    headers: request.headers,
    body: call.body,
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(options.deadlineMs)]),
  });
  return { ok: response.ok, status: response.status, text: await response.text() };
}

function mayPass({ status, text }: { readonly status: number; readonly text: string }): boolean {
  if (status === 429 || status >= 500) return true;
  const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1];
  return code !== undefined && THROTTLED.has(code);
}

/** The words of the system about a connection, such as `ECONNREFUSED`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  if (error.name === "TimeoutError") return "no answer in time";
  const { cause } = error;
  return cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.name) : error.name;
}

export function at(element: Xml, ...path: readonly string[]): Xml {
  let found = element;
  for (const name of path) {
    if (typeof found !== "object" || found === null || Array.isArray(found)) return undefined;
    found = (found as { readonly [name: string]: Xml })[name];
  }
  return found;
}

export function textAt(element: Xml, ...path: readonly string[]): string | null {
  const found = at(element, ...path);
  return typeof found === "string" ? found : null;
}

/** The elements of a list, which is empty text where it has none. */
export function itemsAt(element: Xml, ...path: readonly string[]): readonly Xml[] {
  const found = at(element, ...path, "item") ?? at(element, ...path, "member");
  return Array.isArray(found) ? found : [];
}
