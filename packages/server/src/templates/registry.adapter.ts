import { createFetch, readYamlApart, Unreachable, YamlProblem } from "@binnacle/charts";
import { type RegistryTemplate, StackTemplateFile } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import { compileCheck } from "../http/validation.ts";
import { templateProblems } from "./template-problems.ts";

/** Where the community's templates come from, by name. Throws Unreachable. */
export type TemplateRegistry = () => Promise<readonly RegistryTemplate[]>;

const KEPT_FOR_MS = 60 * 60 * 1000;
const LARGEST_REGISTRY_BYTES = 4 * 1024 * 1024;
const MOST_TEMPLATES = 1000;

const checkForm = compileCheck({ body: StackTemplateFile });

/** The templates of the address, or those that ship where none is configured. */
export function templateRegistry(
  address: string | null,
  shipped: readonly RegistryTemplate[],
  clock: Clock,
): TemplateRegistry {
  if (address === null) return async () => shipped;
  // Whoever configures the address says where the server goes; nobody else does.
  const { hostname } = new URL(address);
  const fetch = createFetch({ allowedHosts: [hostname] });
  let kept: { readonly at: number; readonly templates: readonly RegistryTemplate[] } | null = null;

  return async () => {
    if (kept && clock().getTime() - kept.at < KEPT_FOR_MS) return kept.templates;
    const { status, body } = await fetch(address, { maxBytes: LARGEST_REGISTRY_BYTES });
    if (status !== 200) throw new Unreachable(`it answered ${status}`);
    const templates = templatesIn(await documentOf(body.toString("utf8")));
    kept = { at: clock().getTime(), templates };
    return templates;
  };
}

async function documentOf(text: string): Promise<unknown> {
  try {
    return await readYamlApart(text);
  } catch (error) {
    if (error instanceof YamlProblem) throw new Unreachable(error.message);
    throw error;
  }
}

/** Those that are valid: one broken template does not hide the others. */
function templatesIn(document: unknown): RegistryTemplate[] {
  const listed = Array.isArray(document) ? document : (document as { templates?: unknown } | null)?.templates;
  if (!Array.isArray(listed)) throw new Unreachable("its answer is no list of templates");
  return listed
    .slice(0, MOST_TEMPLATES)
    .filter((body) => checkForm({ path: {}, query: {}, cookie: {}, body }).length === 0)
    .filter((template: RegistryTemplate) => templateProblems(template).length === 0)
    .toSorted((one: RegistryTemplate, other: RegistryTemplate) => (one.name < other.name ? -1 : 1));
}

/** Whether the template is among those that were asked for. */
export function isAskedFor(template: RegistryTemplate, search = "", tag?: string): boolean {
  const { name, description, tags } = template;
  const words = [name, description, ...tags].join("\n").toLowerCase();
  return words.includes(search.toLowerCase()) && (tag === undefined || tags.includes(tag));
}
