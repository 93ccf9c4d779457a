import fc from "fast-check";
import type { ApiDocument, DocumentedOperation, Parameter } from "./document.ts";
import { hostileBody, hostileText, mutated } from "./hostile.ts";
import { type Random, randomOf } from "./random.ts";
import { schemaValues } from "./schema-values.ts";
import type { Actor, FuzzWorld, Place } from "./world.ts";

/**
 * - `valid`: everything is as the document says;
 * - `near`: one thing is not, or may not be;
 * - `hostile`: nothing needs to be.
 */
export type Kind = "valid" | "near" | "hostile";

export interface Request {
  readonly index: number;
  readonly operation: DocumentedOperation;
  readonly kind: Kind;
  readonly actor: Actor;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
  /** The document refuses the body, whatever else the request holds. */
  readonly hasRefusedBody: boolean;
}

const STRONG = ["superuser", "superuser", "owner", "owner", "editor"];
/** They may end the credential of whoever sends them: most are sent by somebody whom nothing else depends on. */
const LEAVERS: ReadonlyMap<string, string> = new Map([
  ["logout", "leaver"],
  ["updateUser", "leaver"],
  ["deleteUser", "leaver"],
  ["revokePresentedCliToken", "CLI token of the leaver"],
]);
const IDEMPOTENCY_KEYS = ["fuzz-1", "fuzz-2", "", "x".repeat(201), "with space", "ünïcode"];
const IF_MATCH = ["*", '"01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11.3"', 'W/"x"', "", '"'];
const MEDIA_TYPES = [
  "text/plain",
  "application/xml",
  "multipart/form-data",
  "application/json; charset=utf-16",
  "*/*",
  "",
];
const BOUNDARY = "----fuzz";

type Draw = (arbitrary: fc.Arbitrary<unknown>) => unknown;

/** Makes requests to a world. The same seed and index make the same choices; ids are whatever is there by then. */
export function requestMaker(document: ApiDocument, world: FuzzWorld, seed: number) {
  const valuesOf = schemaValues(document, (field) => world.known(field));

  return function make(index: number, operation: DocumentedOperation): Request {
    const random = randomOf(Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b));
    const draw: Draw = (arbitrary) => fc.sample(arbitrary, { seed: random.below(2 ** 31), numRuns: 1 })[0];
    const kind: Kind = random.chance(0.5) ? "valid" : random.chance(0.6) ? "near" : "hostile";
    const actor = actorFor(operation, kind, random);
    const place = random.chance(0.9) ? world.place(operation, actor, random) : null;
    // One part of a nearly valid request is wrong; which one depends on what there is.
    const parts = ["path", "query", ...(operation.body ? ["body", "body", "body"] : []), "headers"];
    const wrongPart = kind === "near" ? random.pick(parts) : null;
    const isWrong = (part: string) => wrongPart === part || (kind === "hostile" && random.chance(0.5));

    const path = pathOf(operation, place, draw, random, isWrong("path"));
    const query = queryOf(operation, place, draw, random, isWrong("query"));
    const { headers, body, hasRefusedBody } = bodyOf(operation, draw, random, isWrong("body"));
    return {
      index,
      operation,
      kind,
      actor,
      target: `/api/v1${path}${query}`,
      headers: { ...actor.headers, ...headers, ...extraHeaders(operation, random, isWrong("headers")) },
      body,
      hasRefusedBody,
    };
  };

  function actorFor({ id, isPublic }: DocumentedOperation, kind: Kind, random: Random): Actor {
    const named = (name: string) => world.actors.find((actor) => actor.name === name);
    const strong = named(random.pick(STRONG));
    const leaverName = LEAVERS.get(id);
    if (leaverName) {
      const leaver = named(leaverName);
      return leaver && random.chance(0.7) ? leaver : random.pick(world.actors.filter((it) => it.isRefused));
    }
    if (strong && !isPublic && random.chance(kind === "valid" ? 0.8 : 0.6)) return strong;
    return random.pick(world.actors);
  }

  function parameterValue(parameter: Parameter, field: string, draw: Draw): string {
    return String(draw(valuesOf(parameter.schema, field)));
  }

  function pathOf(operation: DocumentedOperation, place: Place | null, draw: Draw, random: Random, isWrong: boolean) {
    const steps = operation.path.split("/");
    const written = steps.map((step, at) => {
      const name = /^\{(\w+)\}$/.exec(step)?.[1];
      const parameter = operation.parameters.find((it) => it.in === "path" && it.name === name);
      if (!name || !parameter) return step;
      if (isWrong && random.chance(0.7)) return encoded(hostileText(random).slice(0, 2_000), random);
      const field = name === "id" ? (steps[at - 1] ?? "") : name;
      // An empty part of a path would be another path.
      return encoded(place?.[name] ?? (parameterValue(parameter, field, draw) || "x"), random, true);
    });
    return written.join("/");
  }

  function queryOf(operation: DocumentedOperation, place: Place | null, draw: Draw, random: Random, isWrong: boolean) {
    const parameters = operation.parameters.filter((it) => it.in === "query");
    const pairs: string[] = [];
    for (const parameter of parameters) {
      const { name, required } = parameter;
      if (!required && !(name in (place ?? {})) && random.chance(0.5)) continue;
      if (parameter.schema["type"] === "array" && !isWrong) {
        // A parameter with several values is repeated.
        for (const each of draw(valuesOf(parameter.schema)) as string[])
          pairs.push(`${name}=${encodeURIComponent(each)}`);
        continue;
      }
      const value = place?.[name] ?? parameterValue(parameter, name, draw);
      if (!isWrong || random.chance(0.5)) pairs.push(`${name}=${encodeURIComponent(value.toWellFormed())}`);
      else pairs.push(...wrongPairs(name, value, random));
    }
    if (isWrong && random.chance(0.3)) pairs.push(...wrongPairs("unknown", "1", random));
    return pairs.length > 0 ? `?${pairs.join("&")}` : "";
  }

  function bodyOf({ body: described }: DocumentedOperation, draw: Draw, random: Random, isWrong: boolean) {
    if (!described) {
      if (!isWrong) return { headers: {}, body: null, hasRefusedBody: false };
      return {
        headers: { "content-type": "application/json" },
        body: Buffer.from(hostileBody(random)),
        hasRefusedBody: false,
      };
    }
    const { type, schema } = described;
    const drawn = draw(valuesOf(schema));
    const easier = random.chance(0.6) ? eased(drawn) : drawn;
    const value = document.accepts(schema, easier) ? easier : drawn;
    if (!isWrong) return { ...written(type, value), hasRefusedBody: false };
    if (random.chance(0.7)) {
      const changed = mutated(value, random);
      // The document speaks of JSON; what a form makes of a value that is not text is another matter.
      const hasRefusedBody = type === "application/json" && !document.accepts(schema, asJson(changed));
      return { ...written(type, changed), hasRefusedBody };
    }
    if (random.chance(0.5)) {
      const { headers, body } = written(type, value);
      const wrong = random.pick(MEDIA_TYPES);
      // To JSON a charset means nothing.
      return { headers: { ...headers, "content-type": wrong }, body, hasRefusedBody: !wrong.startsWith(type) };
    }
    return { headers: { "content-type": type }, body: Buffer.from(hostileBody(random)), hasRefusedBody: false };
  }

  function extraHeaders({ parameters }: DocumentedOperation, random: Random, isWrong: boolean) {
    const takes = (name: string) => parameters.some((it) => it.in === "header" && it.name === name);
    const values = (all: readonly string[], fitting: readonly string[]) => random.pick(isWrong ? all : fitting);
    const headers: Record<string, string> = { "x-forwarded-for": `203.0.113.${random.below(250) + 1}` };
    if (takes("Idempotency-Key") && random.chance(0.1)) {
      headers["idempotency-key"] = values(IDEMPOTENCY_KEYS, IDEMPOTENCY_KEYS.slice(0, 2));
    }
    if (takes("If-Match") && random.chance(0.1)) headers["if-match"] = values(IF_MATCH, IF_MATCH.slice(0, 2));
    if (isWrong) Object.assign(headers, random.pick(ODD_HEADERS));
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, latin1(value)]));
  }
}

/** Components of an app may not depend on what is not there, and templates not on parameters that are not declared. */
const HARD = new Set(["depends_on", "export_refs", "export_ref", "secrets", "chart_version", "addon_spec"]);
const PARAMETER = { name: "p", type: "string", default: "x" };

/** The same body without most of what no schema rules out, so that more than refusals is seen of operations on components. */
function eased(body: unknown): unknown {
  const { components, chart } = (body ?? {}) as { components?: unknown; chart?: unknown };
  if (!Array.isArray(components))
    return chart === undefined ? body : without(body, new Set(["parameters", "chart_version"]));
  const whole = components.filter((it) => it.op !== "patch" && it.type !== "addon");
  const easier = { ...(body as object), components: whole.slice(0, 1).map((it) => without(it, HARD)) };
  const isTemplate = "parameters" in (body as object) || JSON.stringify(easier.components).includes("${");
  return isTemplate ? { ...easier, parameters: [PARAMETER] } : easier;
}

function without(value: unknown, fields: ReadonlySet<string>): unknown {
  if (typeof value === "string") return value.replace(/\$\{[^}]*\}/g, `\${${PARAMETER.name}}`);
  if (Array.isArray(value)) return value.map((item) => without(item, fields));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !fields.has(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, without(inner, fields)]));
}

const ODD_HEADERS: readonly Record<string, string>[] = [
  { accept: "text/html" },
  { accept: "text/event-stream" },
  { "accept-encoding": "br, gzip;q=nonsense" },
  { "content-encoding": "gzip" },
  { "x-request-id": "../../etc/passwd" },
  { "x-http-method-override": "DELETE" },
  { cookie: "refresh_token=; refresh_token=x; \u0001" },
  { origin: "https://evil.example" },
  { "x-forwarded-for": "not an address, 127.0.0.1" },
  { forwarded: "for=127.0.0.1" },
  { range: "bytes=0-0" },
  { "if-none-match": "*" },
  { "x-padding": "p".repeat(9_000) },
];

/** A header holds bytes, and none that Node refuses to send. */
const latin1 = (text: string) => {
  const bytes = Buffer.from(text, "utf8").map((byte) =>
    (byte < 0x20 && byte !== 0x09) || byte === 0x7f ? 0x3f : byte,
  );
  return Buffer.from(bytes).toString("latin1");
};

const asJson = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

function encoded(text: string, random: Random, isPlain = false): string {
  const written = encodeURIComponent(text.toWellFormed()) || "%20";
  // A part of a path that is one or two dots is taken for a step up by clients, not by us; encoded, it is a value.
  const safe = written.replaceAll(".", "%2E");
  if (isPlain) return safe;
  return random.chance(0.1) ? random.pick(["%zz", "%", "%00", "%ff%fe", "%c0%af", "%2e%2e%2f"]) : safe;
}

function wrongPairs(name: string, value: string, random: Random): string[] {
  const pair = `${name}=${encodeURIComponent(value.toWellFormed())}`;
  const hostile = encodeURIComponent(hostileText(random).toWellFormed().slice(0, 1_500));
  return random.pick([
    [pair, pair],
    [`${name}=${hostile}`],
    [`${name}[]=1`],
    [`${name}`],
    [`${name}=%zz`],
    [`${name}=%00`],
    [],
  ]);
}

function written(type: string, value: unknown): { headers: Record<string, string>; body: Buffer } {
  const fields = () => (typeof value === "object" && value !== null ? Object.entries(value) : [["x", value] as const]);
  const text = (field: unknown) => (typeof field === "string" ? field.toWellFormed() : JSON.stringify(field));
  switch (type) {
    case "application/x-www-form-urlencoded": {
      const form = new URLSearchParams(fields().map(([name, field]): [string, string] => [name, text(field)]));
      return { headers: { "content-type": type }, body: Buffer.from(form.toString()) };
    }
    case "multipart/form-data": {
      const parts = fields().map(([name, field]) => {
        const disposition = `form-data; name="${name.replace(/["\r\n]/g, "_")}"${name === "file" ? '; filename="t.yaml"' : ""}`;
        return `--${BOUNDARY}\r\ncontent-disposition: ${disposition}\r\n\r\n${text(field)}\r\n`;
      });
      const body = Buffer.from(`${parts.join("")}--${BOUNDARY}--\r\n`);
      return { headers: { "content-type": `${type}; boundary=${BOUNDARY}` }, body };
    }
    default:
      return { headers: { "content-type": "application/json" }, body: Buffer.from(JSON.stringify(value) ?? "") };
  }
}
