import type { IncomingHttpHeaders } from "node:http";
import { jsonSize } from "@binnacle/charts/reading";
import type { Operation, ValidationItem } from "@binnacle/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Fault } from "../fault.ts";

/** Returns the 415. An operation accepts one media type, which is checked by the headers before the body is read. */
export function otherMediaType(operation: Operation, headers: IncomingHttpHeaders): Fault | null {
  if (!operation.body) return null;
  const expected = operation.bodyType ?? "application/json";
  const given = headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? expected;
  if (given !== expected) return new Fault("unsupported_media_type", `The request body must be ${expected}.`);
  const isCompressed = (headers["content-encoding"] ?? "identity") !== "identity";
  return isCompressed ? new Fault("unsupported_media_type", "The request body must not be compressed.") : null;
}

const DEEPEST_NESTING = 64;
/** Everything after the parser visits each value. A megabyte of `[1,1,…]` would have half a million. */
const MOST_VALUES = 50_000;
/** No form has more than a few fields. */
const MOST_PARTS = 100;

/**
 * Represents a body that could not be read. It is not thrown at once: a 401 takes precedence, and the other problems of
 * the request are reported together with it.
 */
export class UnreadableBody {
  readonly item: ValidationItem;
  constructor(type: "json_invalid" | "value_error", msg: string) {
    this.item = { loc: ["body"], msg, type };
  }
}

/** Replaces Fastify's parsers: text must be UTF-8, and an empty body counts as absent. */
export function registerBodyParsers(app: FastifyInstance): void {
  const parseSafely = app.getDefaultJsonParser("error", "error");
  const decoder = new TextDecoder("utf-8", { fatal: true });

  app.removeContentTypeParser(["application/json", "text/plain"]);
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, bytes: Buffer, done) => {
    if (bytes.length === 0) return done(null, undefined);
    const unreadable = (msg: string) => done(null, new UnreadableBody("json_invalid", msg));
    let text: string;
    try {
      text = decoder.decode(bytes);
    } catch {
      return unreadable("JSON must be UTF-8");
    }
    const { depth, values } = jsonSize(text, DEEPEST_NESTING);
    if (depth > DEEPEST_NESTING) return unreadable(`JSON must not nest deeper than ${DEEPEST_NESTING}`);
    if (values > MOST_VALUES) return unreadable(`JSON must not hold more than ${MOST_VALUES} values`);
    void parseSafely(request, text, (error, value) => {
      if (!error) return done(null, value);
      // The text is valid JSON, so it was refused because of a key such as `__proto__`.
      unreadable(
        isJson(text) ? "JSON must not have the key __proto__, or prototype in constructor" : "JSON decode error",
      );
    });
  });
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "buffer" },
    (_request, bytes: Buffer, done) => {
      try {
        done(null, parseForm(decoder.decode(bytes)));
      } catch {
        done(null, new UnreadableBody("value_error", "The form must be UTF-8"));
      }
    },
  );
  app.addContentTypeParser(
    "multipart/form-data",
    { parseAs: "buffer" },
    async (request: FastifyRequest, bytes: Buffer) => {
      const contentType = request.headers["content-type"] ?? "";
      if (boundsIn(contentType, bytes) > MOST_PARTS) {
        return new UnreadableBody("value_error", `The form must not have more than ${MOST_PARTS} parts`);
      }
      try {
        return await parseMultipart(contentType, bytes);
      } catch {
        return new UnreadableBody("value_error", "The form must be multipart/form-data, in UTF-8");
      }
    },
  );
}

/** Counts the boundaries between parts before parsing, because each part costs memory. */
function boundsIn(contentType: string, bytes: Buffer): number {
  const [, quoted, plain] = /boundary=(?:"([^"]{1,70})"|([^;\s"]{1,70}))/i.exec(contentType) ?? [];
  const bound = `--${quoted ?? plain ?? ""}`;
  let count = 0;
  for (let at = bytes.indexOf(bound); at !== -1 && count <= MOST_PARTS; at = bytes.indexOf(bound, at + bound.length)) {
    count++;
  }
  return count;
}

/** A part is text, whether it is sent as a field or as a file. A repeated name is a list, as in `parseForm`. */
async function parseMultipart(contentType: string, bytes: Buffer): Promise<Record<string, unknown>> {
  const form = await new Response(new Uint8Array(bytes), { headers: { "content-type": contentType } }).formData();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const fields = Map.groupBy(form, ([name]) => name);
  const read = async (part: string | Blob) =>
    typeof part === "string" ? part : decoder.decode(await part.arrayBuffer());
  const entries = [...fields].map(async ([name, pairs]) => {
    const [value = "", ...more] = await Promise.all(pairs.map(([, part]) => read(part)));
    return [name, more.length === 0 ? value : [value, ...more]] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A repeated field is a list, which the schemas of forms refuse. */
export function parseForm(text: string): Record<string, string | string[]> {
  const fields = Map.groupBy(new URLSearchParams(text), ([name]) => name);
  return Object.fromEntries(
    [...fields].map(([name, pairs]) => {
      const [value = "", ...more] = pairs.map(([, text]) => text);
      return [name, more.length === 0 ? value : [value, ...more]];
    }),
  );
}
