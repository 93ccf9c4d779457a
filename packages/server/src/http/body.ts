import type { ValidationItem } from "@binnacle/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";

const DEEPEST_NESTING = 64;

/**
 * Stands in for a body that could not be read. It is no error yet: a 401 comes before it, and what else is wrong with the
 * request is reported together with it.
 */
export class UnreadableBody {
  readonly item: ValidationItem;
  constructor(type: "json_invalid" | "value_error", msg: string) {
    this.item = { loc: ["body"], msg, type };
  }
}

/** Replaces Fastify's own parsers: text must be UTF-8, and an empty body is no body. */
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
    if (isDeeperThan(text, DEEPEST_NESTING)) return unreadable(`JSON must not nest deeper than ${DEEPEST_NESTING}`);
    void parseSafely(request, text, (error, value) => {
      if (!error) return done(null, value);
      // JSON all the same: then it was refused for a key that could reach into the prototype of what is made from it.
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
      try {
        return await parseMultipart(request.headers["content-type"] ?? "", bytes);
      } catch {
        return new UnreadableBody("value_error", "The form must be multipart/form-data, in UTF-8");
      }
    },
  );
}

/** A part of the form is text, whether it is sent as a field or as a file; a name given twice is a list, as in `parseForm`. */
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

/** A field given twice is a list, which the schemas of forms then refuse. */
export function parseForm(text: string): Record<string, string | string[]> {
  const fields = Map.groupBy(new URLSearchParams(text), ([name]) => name);
  return Object.fromEntries(
    [...fields].map(([name, pairs]) => {
      const [value = "", ...more] = pairs.map(([, text]) => text);
      return [name, more.length === 0 ? value : [value, ...more]];
    }),
  );
}

/** Found in one pass before parsing, because everything after it recurses. */
export function isDeeperThan(json: string, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < json.length; index++) {
    const character = json[index];
    if (inString) {
      if (character === "\\") index++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "{" || character === "[") {
      if (++depth > limit) return true;
    } else if (character === "}" || character === "]") depth--;
  }
  return false;
}
