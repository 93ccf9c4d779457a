import { createFetch, Unreachable } from "@binnacle/charts";
import type { RegistryTemplate } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import type { Readers } from "./readers.adapter.ts";
import { ReadingProblem } from "./reading.ts";

/** Where the community's templates come from, by name. Throws Unreachable. */
export type TemplateRegistry = () => Promise<readonly RegistryTemplate[]>;

const KEPT_FOR_MS = 60 * 60 * 1000;
const LARGEST_REGISTRY_BYTES = 4 * 1024 * 1024;
/** Stands for whoever asks: what is read is the same for all of them. */
const CALLER = "registry";

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

  return async () => {
    if (kept && clock().getTime() - kept.at < KEPT_FOR_MS) return kept.templates;
    const { status, body } = await fetch(address, { maxBytes: LARGEST_REGISTRY_BYTES });
    if (status !== 200) throw new Unreachable(`it answered ${status}`);
    const templates = await readers.read(CALLER, "registry", body).catch((error: unknown) => {
      throw error instanceof ReadingProblem ? new Unreachable(error.message) : error;
    });
    kept = { at: clock().getTime(), templates };
    return templates;
  };
}

/** Whether the template is among those that were asked for. */
export function isAskedFor(template: RegistryTemplate, search = "", tag?: string): boolean {
  const { name, description, tags } = template;
  const words = [name, description, ...tags].join("\n").toLowerCase();
  return words.includes(search.toLowerCase()) && (tag === undefined || tags.includes(tag));
}
