import { setImmediate } from "node:timers/promises";
import { createFetch, Unreachable } from "@binnacle/charts";
import { type RegistryTemplate, StackTemplateFile } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import { compileCheck } from "../http/validation.ts";
import { askPatterns, type Readers } from "./readers.adapter.ts";
import { ReadingProblem } from "./reading.ts";
import { templateProblems } from "./template-problems.ts";

/** Where the community's templates come from, by name. Throws Unreachable. */
export type TemplateRegistry = () => Promise<readonly RegistryTemplate[]>;

const KEPT_FOR_MS = 60 * 60 * 1000;
const LARGEST_REGISTRY_BYTES = 4 * 1024 * 1024;
const MOST_TEMPLATES = 1000;
/** Stands for whoever asks: what is read is the same for all of them. */
const CALLER = { id: "registry" };

const checkForm = compileCheck({ body: StackTemplateFile });

/** The templates of the address, or those that ship where none is configured. */
export function templateRegistry(
  address: string | null,
  shipped: readonly RegistryTemplate[],
  clock: Clock,
  readers: Readers,
): TemplateRegistry {
  if (address === null) return async () => shipped;
  // Whoever configures the address says where the server goes; nobody else does.
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
    // Many who ask at once wait for one and the same answer.
    pending ??= load().finally(() => {
      pending = null;
    });
    return pending;
  };
}

/** Those that are valid: one broken template does not hide the others. Requests are served between one and the next. */
async function templatesIn(document: unknown, readers: Readers): Promise<RegistryTemplate[]> {
  const listed = Array.isArray(document) ? document : (document as { templates?: unknown } | null)?.templates;
  if (!Array.isArray(listed)) throw new Unreachable("its answer is no list of templates");
  const valid: RegistryTemplate[] = [];
  for (const body of listed.slice(0, MOST_TEMPLATES)) {
    await setImmediate();
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

/** Whether the template is among those that were asked for. */
export function isAskedFor(template: RegistryTemplate, search = "", tag?: string): boolean {
  const { name, description, tags } = template;
  const words = [name, description, ...tags].join("\n").toLowerCase();
  return words.includes(search.toLowerCase()) && (tag === undefined || tags.includes(tag));
}
