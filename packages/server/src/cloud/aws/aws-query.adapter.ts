import { setTimeout as sleep } from "node:timers/promises";
import { AwsV4Signer } from "aws4fetch";
import { XMLParser } from "fast-xml-parser";
import { CloudRefusal } from "../provider.ts";
import { type AwsAccess, type AwsService, assumedRole, endpointOf, isRegion } from "./aws.ts";
import { failureOfError, isThrottled, unreachable } from "./aws-failure.ts";
import { backOffMs } from "./aws-pace.ts";
import type { Pacer } from "./aws-pacer.adapter.ts";

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
  readonly random: () => number;
  readonly pacer: Pacer;
}

/** Calls an action with parameters as the Query API writes them, such as `Filter.1.Name`. */
export type Query = (
  service: Exclude<AwsService, "s3" | "servicequotas">,
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
/** AWS asks for these. */
const THROTTLED_ATTEMPTS = 6;

const parser = new XMLParser({
  ignoreAttributes: true,
  parseTagValue: false,
  isArray: (name) => name === "item" || name === "member",
});

export const queries = (access: AwsAccess, options: QueryOptions, signal: AbortSignal): Query =>
  queriesOf(callerOf(access, options, signal), options, signal);

interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Who calls. The keys of a role are asked for with each call, because they end. */
interface Caller {
  /** Whose calls AWS counts together. */
  readonly account: string;
  readonly region: string;
  readonly keys: () => Promise<Keys>;
}

/** Sooner than AWS and the clock of this machine may disagree about. */
const RENEW_BEFORE_MS = 300_000;

function callerOf(access: AwsAccess, options: QueryOptions, signal: AbortSignal): Caller {
  const own = { accessKeyId: access.access_key_id, secretAccessKey: access.secret_access_key };
  const account = `${access.access_key_id} ${access.region}`;
  const user = { account, region: access.region, keys: async () => own };
  const role = assumedRole(access);
  if (role === null) return user;
  const query = queriesOf(user, options, signal);
  let session: Promise<Keys & { readonly endsAt: number }> | undefined;
  const renewed = () => {
    session = assume(query, role);
    return session;
  };
  const keys = async () => {
    const known = await (session ?? renewed());
    return known.endsAt - Date.now() > RENEW_BEFORE_MS ? known : renewed();
  };
  return { account, region: access.region, keys };
}

async function assume(query: Query, { arn, externalId }: { readonly arn: string; readonly externalId: string }) {
  const parameters = { RoleArn: arn, RoleSessionName: "binnacle", ExternalId: externalId };
  const answer = at(await query("sts", "AssumeRole", parameters), "AssumeRoleResult", "Credentials");
  return {
    accessKeyId: textAt(answer, "AccessKeyId") ?? "",
    secretAccessKey: textAt(answer, "SecretAccessKey") ?? "",
    sessionToken: textAt(answer, "SessionToken") ?? "",
    endsAt: Date.parse(textAt(answer, "Expiration") ?? "") || 0,
  };
}

function queriesOf(caller: Caller, options: QueryOptions, signal: AbortSignal): Query {
  return async (service, action, parameters) => {
    const body = new URLSearchParams({ Action: action, Version: VERSIONS[service], ...parameters }).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
    const name = `${service.replace(/v2$/, "")}:${action}`;
    const { ok, status, text } = await sent(caller, options, signal, { service, name, body, headers });
    const answer: Xml = parser.parse(text);
    if (ok) return Object.values(answer as Record<string, Xml>).find((value) => typeof value === "object");
    const response = at(answer, "Response") ?? at(answer, "ErrorResponse");
    const error = at(response, "Errors", "Error") ?? at(response, "Error");
    throw new AwsError(
      name,
      textAt(error, "Code") ?? (status === 429 ? "TooManyRequests" : "Unknown"),
      textAt(error, "Message") ?? "",
    );
  };
}

/** Service Quotas speaks JSON. */
export async function serviceQuota(
  access: AwsAccess,
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
  const caller = callerOf(access, options, signal);
  const { ok, text } = await sent(caller, options, signal, { service: "servicequotas", name, body, headers });
  if (!ok) return null;
  const value: unknown = JSON.parse(text)?.Quota?.Value;
  return typeof value === "number" ? value : null;
}

/** Of more, the control plane would have kept each for years. */
const MOST_PAGES = 20;

/** The objects of a bucket in the region of the credential, with the times of their last change. */
export async function listedObjects(
  access: AwsAccess,
  options: QueryOptions,
  signal: AbortSignal,
  { bucket, prefix }: { readonly bucket: string; readonly prefix: string },
): Promise<readonly { readonly key: string; readonly at: string }[]> {
  const name = "s3:ListBucket";
  const caller = callerOf(access, options, signal);
  const found: { key: string; at: string }[] = [];
  let next: string | null = null;
  for (let page = 1; page <= MOST_PAGES; page++) {
    const search = new URLSearchParams({ "list-type": "2", prefix, ...(next ? { "continuation-token": next } : {}) });
    const path = `/${bucket}?${search.toString()}`;
    const { ok, text } = await sent(caller, options, signal, { service: "s3", name, path, headers: {} });
    const answer: Xml = parser.parse(text);
    if (!ok) {
      const error = at(answer, "Error");
      throw new AwsError(name, textAt(error, "Code") ?? "Unknown", textAt(error, "Message") ?? "");
    }
    const listed = at(answer, "ListBucketResult");
    for (const one of [at(listed, "Contents")].flat() as Xml[])
      if (one) found.push({ key: textAt(one, "Key") ?? "", at: textAt(one, "LastModified") ?? "" });
    next = textAt(listed, "NextContinuationToken");
    if (!next) break;
  }
  return found;
}

interface Call {
  readonly service: AwsService;
  readonly name: string;
  /** With a body it is a POST. */
  readonly body?: string;
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Tries again what may pass: a connection that failed, an answer that says "later". An account that is throttled is called more slowly. */
async function sent(caller: Caller, options: QueryOptions, signal: AbortSignal, call: Call) {
  for (let attempt = 1; ; attempt++) {
    try {
      await options.pacer.turnOf(caller.account, signal);
      const answer = await attempted(caller, options, signal, call);
      const isRefused = isThrottling(answer);
      options.pacer.answered(caller.account, isRefused);
      const isLast = attempt >= (isRefused ? THROTTLED_ATTEMPTS : ATTEMPTS);
      if (answer.ok || isLast || !(isRefused || answer.status >= 500)) return answer;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof CloudRefusal) throw error;
      if (attempt >= ATTEMPTS) throw new CloudRefusal(unreachable(reasonOf(error)));
    }
    await sleep(backOffMs(options.backOffMs, attempt, options.random), undefined, { signal });
  }
}

async function attempted(caller: Caller, options: QueryOptions, signal: AbortSignal, call: Call) {
  if (!isRegion(caller.region)) {
    throw new CloudRefusal({
      code: "not_offered",
      message: `AWS has no region ${caller.region}. Use one that AWS has, such as eu-central-1, in the credential or for a new cluster.`,
    });
  }
  const place = endpointOf(call.service, caller.region);
  const method = call.body === undefined ? "GET" : "POST";
  const body = call.body === undefined ? {} : { body: call.body };
  const request = await new AwsV4Signer({
    method,
    url: `${options.endpoint ?? place.url}${call.path ?? "/"}`,
    headers: call.headers,
    ...body,
    ...(await caller.keys()),
    service: call.service.replace(/v2$/, ""),
    region: place.region,
  }).sign();
  const response = await fetch(request.url, {
    method,
    headers: request.headers,
    ...body,
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(options.deadlineMs)]),
  });
  return { ok: response.ok, status: response.status, text: await response.text() };
}

function isThrottling({ ok, status, text }: { readonly ok: boolean; readonly status: number; readonly text: string }) {
  if (ok) return false;
  // Service Quotas answers in JSON.
  const [, xml, json] = /<Code>([\w.]+)<\/Code>|"__type"\s*:\s*"(?:[\w.]+#)?(\w+)"/.exec(text) ?? [];
  return status === 429 || isThrottled(xml ?? json ?? "");
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
