import type { FastifyInstance } from "fastify";
import { Fault, invalid } from "../fault.ts";

const DEEPEST_NESTING = 64;

const jsonInvalid = (msg: string) => invalid([{ loc: ["body"], msg, type: "json_invalid" }]);

/** Replaces Fastify's own parsers: broken JSON is a 422 of the documented form, and an empty body is no body. */
export function registerBodyParsers(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser("error", "error");
  const decoder = new TextDecoder("utf-8", { fatal: true });

  app.removeContentTypeParser(["application/json", "text/plain"]);
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, bytes: Buffer, done) => {
    if (bytes.length === 0) return done(null, undefined);
    let text: string;
    try {
      text = decoder.decode(bytes);
    } catch {
      return done(jsonInvalid("JSON must be UTF-8"));
    }
    if (isDeeperThan(text, DEEPEST_NESTING))
      return done(jsonInvalid(`JSON must not nest deeper than ${DEEPEST_NESTING}`));
    parseJson(request, text, (error, value) => done(error && jsonInvalid("JSON decode error"), value));
  });
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "buffer" },
    (_request, bytes: Buffer, done) => {
      try {
        done(null, parseForm(decoder.decode(bytes)));
      } catch (error) {
        done(error instanceof Fault ? error : new Fault("unsupported_media_type", "The form must be UTF-8."));
      }
    },
  );
}

/** A field given twice is a list, which the schemas of forms then refuse. */
export function parseForm(text: string): Record<string, string | string[]> {
  const fields = new URLSearchParams(text);
  const names = [...new Set(fields.keys())];
  return Object.fromEntries(
    names.map((name) => {
      const values = fields.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? "") : values];
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
