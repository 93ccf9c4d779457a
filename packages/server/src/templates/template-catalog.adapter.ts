import { setImmediate } from "node:timers/promises";
import { createFetch, ReadingProblem, Unreachable } from "@binnacle/charts";
import { type CatalogTemplate, renameInComponents, StackTemplateFile } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import { compileCheck } from "../http/validation.ts";
import { askPatterns, type Readers } from "./readers.adapter.ts";
import { templateProblems } from "./template-problems.ts";

/** Returns the templates of the catalog in order of their names. Throws Unreachable. */
export type TemplateCatalog = () => Promise<readonly CatalogTemplate[]>;

/** Throws the 502 where the catalog cannot be read. */
export function readTemplateCatalog(templateCatalog: TemplateCatalog): ReturnType<TemplateCatalog> {
  return templateCatalog().catch((error: unknown) => {
    if (!(error instanceof Unreachable)) throw error;
    throw new Fault("bad_gateway", "The template catalog cannot be read.", { cause: error });
  });
}

const KEPT_FOR_MS = 60 * 60 * 1000;
const LARGEST_CATALOG_BYTES = 4 * 1024 * 1024;
const MOST_TEMPLATES = 1000;
/** One caller for all requests, because they read the same document. */
const CALLER = { id: "template catalog" };

const checkForm = compileCheck({ body: StackTemplateFile });

/** Reads the templates of the address, or the shipped ones where none is configured. */
export function createTemplateCatalog(
  address: string | null,
  shipped: readonly CatalogTemplate[],
  clock: Clock,
  readers: Readers,
): TemplateCatalog {
  if (address === null) return async () => shipped;
  // The configured address is trusted, so its host is allowed.
  const { hostname } = new URL(address);
  const fetch = createFetch({ allowedHosts: [hostname] });
  let kept: { readonly at: number; readonly templates: readonly CatalogTemplate[] } | null = null;
  let pending: Promise<readonly CatalogTemplate[]> | null = null;

  const load = async (): Promise<readonly CatalogTemplate[]> => {
    const { status, body } = await fetch(address, { maxBytes: LARGEST_CATALOG_BYTES });
    if (status !== 200) throw new Unreachable(`it answered ${status}`);
    const document = await readers.read(CALLER.id, "templateCatalog", body).catch((error: unknown) => {
      throw error instanceof ReadingProblem ? new Unreachable(error.message) : error;
    });
    const templates = await templatesIn(document, readers);
    kept = { at: clock().getTime(), templates };
    return templates;
  };

  return async () => {
    if (kept && clock().getTime() - kept.at < KEPT_FOR_MS) return kept.templates;
    // Concurrent requests share one download.
    pending ??= load().finally(() => {
      pending = null;
    });
    return pending;
  };
}

/** Keeps valid templates only: a broken one does not hide the others. Other requests are served in between. */
async function templatesIn(document: unknown, readers: Readers): Promise<CatalogTemplate[]> {
  const listed = Array.isArray(document) ? document : (document as { templates?: unknown } | null)?.templates;
  if (!Array.isArray(listed)) throw new Unreachable("its answer is not a list of templates");
  const valid: CatalogTemplate[] = [];
  for (const body of listed.slice(0, MOST_TEMPLATES)) {
    await setImmediate();
    renameInComponents(body);
    if (await isValid(body, readers)) valid.push(body);
  }
  return valid.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

async function isValid(body: unknown, readers: Readers): Promise<boolean> {
  if (checkForm({ path: {}, query: {}, cookie: {}, body }).length > 0) return false;
  const template = body as CatalogTemplate;
  const patterns = await askPatterns(readers, CALLER, template.parameters).catch((error: unknown) => {
    if (error instanceof Fault) return null;
    throw error;
  });
  return patterns !== null && templateProblems(template, patterns).length === 0;
}

/** Returns whether the template matches the search. */
export function matchesSearch(template: CatalogTemplate, search = "", tag?: string): boolean {
  const { name, description, tags } = template;
  const words = [name, description, ...tags].join("\n").toLowerCase();
  return words.includes(search.toLowerCase()) && (tag === undefined || tags.includes(tag));
}
