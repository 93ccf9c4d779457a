import { setImmediate } from "node:timers/promises";
import { createFetch, Unreachable } from "@binnacle/charts";
import { type RegistryTemplate, renameInComponents, StackTemplateFile } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import { compileCheck } from "../http/validation.ts";
import { askPatterns, type Readers } from "./readers.adapter.ts";
import { ReadingProblem } from "./reading.ts";
import { templateProblems } from "./template-problems.ts";

/** Returns the templates of the registry in order of their names. Throws Unreachable. */
export type TemplateRegistry = () => Promise<readonly RegistryTemplate[]>;

/** Throws the 502 where the registry cannot be read. */
export function readRegistry(registry: TemplateRegistry): ReturnType<TemplateRegistry> {
  return registry().catch((error: unknown) => {
    if (!(error instanceof Unreachable)) throw error;
    throw new Fault("bad_gateway", "The template registry cannot be read.", { cause: error });
  });
}

const KEPT_FOR_MS = 60 * 60 * 1000;
const LARGEST_REGISTRY_BYTES = 4 * 1024 * 1024;
const MOST_TEMPLATES = 1000;
/** One caller for all requests, because they read the same document. */
const CALLER = { id: "registry" };

const checkForm = compileCheck({ body: StackTemplateFile });

/** Reads the templates of the address, or the shipped ones where none is configured. */
export function templateRegistry(
  address: string | null,
  shipped: readonly RegistryTemplate[],
  clock: Clock,
  readers: Readers,
): TemplateRegistry {
  if (address === null) return async () => shipped;
  // The configured address is trusted, so its host is allowed.
  const { hostname } = new URL(address);
  const fetch = createFetch({ allowedHosts: [hostname] });
  let kept: { readonly at: number; readonly templates: readonly RegistryTemplate[] } | null = null;
  let pending: Promise<readonly RegistryTemplate[]> | null = null;

  const load = async (): Promise<readonly RegistryTemplate[]> => {
    const { status, body } = await fetch(address, { maxBytes: LARGEST_REGISTRY_BYTES });
    if (status !== 200) throw new Unreachable(`it answered ${status}`);
    const document = await readers.read(CALLER.id, "registry", body).catch((error: unknown) => {
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
async function templatesIn(document: unknown, readers: Readers): Promise<RegistryTemplate[]> {
  const listed = Array.isArray(document) ? document : (document as { templates?: unknown } | null)?.templates;
  if (!Array.isArray(listed)) throw new Unreachable("its answer is no list of templates");
  const valid: RegistryTemplate[] = [];
  for (const body of listed.slice(0, MOST_TEMPLATES)) {
    await setImmediate();
    renameInComponents(body);
    if (await isValid(body, readers)) valid.push(body);
  }
  return valid.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

async function isValid(body: unknown, readers: Readers): Promise<boolean> {
  if (checkForm({ path: {}, query: {}, cookie: {}, body }).length > 0) return false;
  const template = body as RegistryTemplate;
  const patterns = await askPatterns(readers, CALLER, template.parameters).catch((error: unknown) => {
    if (error instanceof Fault) return null;
    throw error;
  });
  return patterns !== null && templateProblems(template, patterns).length === 0;
}

/** Returns whether the template matches the search. */
export function matchesSearch(template: RegistryTemplate, search = "", tag?: string): boolean {
  const { name, description, tags } = template;
  const words = [name, description, ...tags].join("\n").toLowerCase();
  return words.includes(search.toLowerCase()) && (tag === undefined || tags.includes(tag));
}
