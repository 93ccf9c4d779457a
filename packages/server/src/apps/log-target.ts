import { type Fault, invalid, notFound } from "../fault.ts";
import type { SeenApp } from "./app.ts";

/** Whose logs are meant: the component named, or the only workload that there is. */
export function logTarget({ components }: Pick<SeenApp, "components">, asked: string | undefined): string | Fault {
  if (asked !== undefined) {
    return components.some(({ name }) => name === asked) ? asked : notFound(`Component ${asked}`);
  }
  const [only, ...others] = components.filter(({ workload_spec }) => workload_spec !== undefined);
  if (only && others.length === 0) return only.name;
  const msg = `Field required: the app has ${others.length === 0 ? "no workload" : "several workloads"}`;
  return invalid([{ loc: ["query", "component"], msg, type: "missing" }]);
}
