import { createHash } from "node:crypto";
import { type AddonBody, fillExportTemplate, type ReleaseFacts, scanPlaceholders } from "@binnacle/contract";
import type { Exports, SecretExport } from "../app/render/rendering.ts";

export type ExportSchema = AddonBody["spec"]["export_schema"];
type Source = ExportSchema[string]["from"];

/** Objects of the namespace from which exports are read, where they exist. */
export interface Sources {
  /** Contents of Secrets, by name and key. */
  readonly secrets: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly services: ReadonlySet<string>;
}

export interface ResolvedExports {
  readonly plain: Readonly<Record<string, string>>;
  readonly secret: Readonly<Record<string, string>>;
  /** The exports that are still missing, as text; empty once every export is known. */
  readonly missing: readonly string[];
}

/** As much as a report takes. */
const LONGEST_PLAIN = 4_096;

const templateOf = (from: Source): string =>
  "value" in from ? from.value : "secret" in from ? from.secret : from.service;

/** Which objects to read. */
export function sourceNames(schema: ExportSchema, facts: ReleaseFacts) {
  const names = (of: "secret" | "service") =>
    Object.values(schema).flatMap(({ from }) =>
      of in from ? (fillExportTemplate(templateOf(from), facts) ?? []) : [],
    );
  return { secrets: [...new Set(names("secret"))].sort(), services: [...new Set(names("service"))].sort() };
}

interface Found {
  readonly text: string;
  readonly isSecret: boolean;
}

/** Keys of the exports that a text is made of. */
const madeOf = (template: string): string[] =>
  scanPlaceholders(template).flatMap((part) => {
    const [name = ""] = typeof part === "string" ? [] : part.name.split("|");
    return name.startsWith("exports.") ? [name.slice("exports.".length)] : [];
  });

/**
 * Resolves exports without references first, then the rest. An export that is derived from a secret is a secret,
 * whatever the schema says.
 */
export function resolveExports(schema: ExportSchema, facts: ReleaseFacts, sources: Sources): ResolvedExports {
  const found = new Map<string, Found>();
  const missing = new Map<string, string>();
  const take = (isSecond: boolean) => {
    const exports = Object.fromEntries([...found].map(([key, { text }]) => [key, text]));
    for (const [key, { from, secret }] of Object.entries(schema)) {
      const parts = "value" in from ? madeOf(from.value) : [];
      if (parts.length > 0 !== isSecond) continue;
      const text = textOf(from, { ...facts, exports }, sources);
      if (text === null) missing.set(key, reasonFor(from, facts, parts));
      else found.set(key, { text, isSecret: secret || parts.some((part) => found.get(part)?.isSecret) });
    }
  };
  take(false);
  take(true);
  for (const [key, { text, isSecret }] of found) {
    if (!isSecret && text.length > LONGEST_PLAIN) missing.set(key, `the export ${key} is too long to be reported`);
  }
  const pick = (isSecret: boolean) =>
    Object.fromEntries(
      [...found].flatMap(([key, one]) => (one.isSecret === isSecret && !missing.has(key) ? [[key, one.text]] : [])),
    );
  return { plain: pick(false), secret: pick(true), missing: [...new Set(missing.values())].sort() };
}

function textOf(from: Source, facts: ReleaseFacts, { secrets, services }: Sources): string | null {
  const filled = fillExportTemplate(templateOf(from), facts);
  if (filled === null || "value" in from) return filled;
  if ("secret" in from) {
    const content = secrets.get(filled) ?? {};
    return Object.hasOwn(content, from.key) ? (content[from.key] ?? null) : null;
  }
  if (!services.has(filled)) return null;
  const host = `${filled}.${facts.namespace}.svc`;
  return from.port === undefined ? host : `${host}:${from.port}`;
}

function reasonFor(from: Source, facts: ReleaseFacts, parts: readonly string[]): string {
  if (parts.length > 0) return `the exports ${parts.join(", ")}`;
  const name = fillExportTemplate(templateOf(from), facts);
  if ("secret" in from) return `the key ${from.key} of the Secret ${name}`;
  return "service" in from ? `the Service ${name}` : "a value that an export is made of";
}

/** Changes with the value without revealing it. */
const checksumOf = (secretName: string, key: string, value: string): string =>
  createHash("sha256").update(`${secretName}\n${key}\n${value}`).digest("hex").slice(0, 12);

export const secretExport = (name: string, key: string, value: string): SecretExport => ({
  secret: { name, key },
  checksum: checksumOf(name, key, value),
});

/** As apps see them: a secret one is pointed at. */
export function exportsSeen({ plain, secret }: ResolvedExports, secretName: string): Exports {
  return {
    ...Object.fromEntries(Object.entries(plain).map(([key, value]) => [key, { value }])),
    ...Object.fromEntries(Object.entries(secret).map(([key, value]) => [key, secretExport(secretName, key, value)])),
  };
}

/** As the control plane sees them: of a secret one, that it is there. */
export const reportedExports = ({ plain, secret }: ResolvedExports): Readonly<Record<string, string | null>> => ({
  ...plain,
  ...Object.fromEntries(Object.keys(secret).map((key) => [key, null])),
});
