import { type Fault, invalid, notFound } from "../fault.ts";
import type { SeenApp } from "./app.ts";

/** Whose logs are meant: the component named, or the only workload that there is, or the only component. */
export function logTarget({ components }: Pick<SeenApp, "components">, asked: string | undefined): string | Fault {
  if (asked !== undefined) {
    return components.some(({ name }) => name === asked) ? asked : notFound(`Component ${asked}`);
  }
  const workloads = components.filter(({ workload_spec }) => workload_spec !== undefined);
  const [only, ...others] = workloads.length > 0 ? workloads : components;
  if (only && others.length === 0) return only.name;
  const has = workloads.length > 0 ? "several workloads" : only ? "several components" : "no component";
  return invalid([{ loc: ["query", "component"], msg: `Field required: the app has ${has}`, type: "missing" }]);
}
