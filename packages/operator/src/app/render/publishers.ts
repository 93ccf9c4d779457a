import type { DesiredComponent } from "@binnacle/contract";
import { componentNames } from "../names.ts";
import type { AppSpec, Export, Exports, Publisher, Surroundings } from "./rendering.ts";

type Port = NonNullable<NonNullable<DesiredComponent["workload_spec"]>["ports"]>[number];

const literal = (value: string): Export => ({ value });

/** The ports that get a Service. Jobs get none, because they serve nobody. */
export const servedPorts = ({ workload_spec: spec }: Pick<DesiredComponent, "workload_spec">): readonly Port[] =>
  spec?.kind === "job" || spec?.kind === "cronjob" ? [] : (spec?.ports ?? []);

function schemeOf({ name, port, protocol = "TCP" }: Port): string {
  if (protocol !== "TCP") return protocol.toLowerCase();
  return port === 443 || name === "https" || name.startsWith("https-") ? "https" : "http";
}

/** Where others reach a workload: `host`, `port` and `url` lead to its first port, `<name>_port` and `<name>_url` to each. */
function servedExports({ name: app, namespace }: AppSpec, component: DesiredComponent): Exports {
  const ports = servedPorts(component);
  const [first] = ports;
  if (!first) return {};
  const host = `${componentNames(app, component.name).base}.${namespace}.svc`;
  const urlOf = (port: Port) => literal(`${schemeOf(port)}://${host}:${port.port}`);
  return {
    host: literal(host),
    port: literal(String(first.port)),
    url: urlOf(first),
    ...Object.fromEntries(
      ports.flatMap((port) => [
        [`${port.name}_port`, literal(String(port.port))],
        [`${port.name}_url`, urlOf(port)],
      ]),
    ),
  };
}

function madeBy(app: AppSpec, component: DesiredComponent, around: Surroundings): Publisher {
  if (component.type === "workload") return { keys: [], exports: servedExports(app, component) };
  if (component.addon_instance !== undefined) {
    return around.instances.get(component.addon_instance) ?? { keys: [], exports: {} };
  }
  return {
    keys: Object.keys(component.release?.export_schema ?? {}),
    exports: around.releases.get(component.name) ?? {},
  };
}

const literals = (texts: Readonly<Record<string, string>>): Exports =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, literal(text)]));

/** The exports of a component. Its own `exports` win over those that are derived from its objects. */
export function publisherOf(name: string, app: AppSpec, around: Surroundings): Publisher | null {
  const component = app.components.find((one) => one.name === name);
  if (!component) return null;
  const made = madeBy(app, component, around);
  const exports = { ...made.exports, ...literals(component.exports ?? {}) };
  return { keys: [...new Set([...made.keys, ...Object.keys(exports)])].sort(), exports };
}
