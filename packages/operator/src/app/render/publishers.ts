import { composeExport, type DesiredComponent, LONGEST_EXPORT, servedExports } from "@binnacle/contract";
import type { StoredResource } from "../../desired/desired-state.ts";
import { secretExport } from "../../helm/exports.ts";
import { componentNames } from "../names.ts";
import type { AppSpec, Export, Exports, Publisher, Surroundings } from "./rendering.ts";

export type App = Pick<StoredResource<"app">, "spec" | "secret">;

const literal = (value: string): Export => ({ value });

/** Where others reach a workload. */
const addressOf = ({ name: app, namespace }: AppSpec, component: DesiredComponent): Readonly<Record<string, string>> =>
  component.type === "workload"
    ? servedExports(component, `${componentNames(app, component.name).base}.${namespace}.svc`)
    : {};

export const secretsOf = ({ secret: { secrets } }: App, component: string): Readonly<Record<string, string>> =>
  Object.hasOwn(secrets, component) ? (secrets[component] ?? {}) : {};

interface Composed {
  readonly plain: Readonly<Record<string, string>>;
  /** These contain a secret of the component, and are kept in a Secret beside it. */
  readonly secret: Readonly<Record<string, string>>;
  readonly tooLong: readonly string[];
}

/** The component's own `exports` with their placeholders filled. An export that names a secret that is not set is left out. */
export function composedExports(app: App, component: DesiredComponent): Composed {
  const [served, secrets] = [addressOf(app.spec, component), secretsOf(app, component.name)];
  const filled = Object.entries(component.exports ?? {}).map(
    ([key, template]) => [key, composeExport(template, served, secrets)] as const,
  );
  const texts = (isSecret: boolean) =>
    Object.fromEntries(
      filled.flatMap(([key, one]) => (typeof one === "object" && one.isSecret === isSecret ? [[key, one.text]] : [])),
    );
  return {
    plain: texts(false),
    secret: texts(true),
    tooLong: filled.flatMap(([key, one]) => (one === "too_long" ? [key] : [])),
  };
}

export const tooLongMessage = (component: string, key: string): string =>
  `The export ${key} of component ${component} is longer than ${LONGEST_EXPORT} characters with its placeholders filled.`;

function madeBy({ spec: app }: App, component: DesiredComponent, around: Surroundings): Publisher {
  if (component.type === "workload") {
    return { keys: [], exports: mapped(addressOf(app, component), (_, text) => literal(text)) };
  }
  if (component.addon_instance !== undefined) {
    return around.instances.get(component.addon_instance) ?? { keys: [], exports: {} };
  }
  return {
    keys: Object.keys(component.release?.export_schema ?? {}),
    exports: around.releases.get(component.name) ?? {},
  };
}

const mapped = (texts: Readonly<Record<string, string>>, toExport: (key: string, text: string) => Export): Exports =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, toExport(key, text)]));

/** The exports of a component. Its own `exports` win over those that are derived from its objects. */
function publisherOf(name: string, app: App, around: Surroundings): Publisher | null {
  const component = app.spec.components.find((one) => one.name === name);
  if (!component) return null;
  const made = madeBy(app, component, around);
  const own = Object.keys(component.exports ?? {});
  const derived = Object.entries(made.exports).filter(([key]) => !own.includes(key));
  const { plain, secret } = composedExports(app, component);
  const { composed } = componentNames(app.spec.name, name);
  const exports: Exports = {
    ...Object.fromEntries(derived),
    ...mapped(plain, (_, text) => literal(text)),
    ...mapped(secret, (key, text) => secretExport(composed, key, text)),
  };
  return { keys: [...new Set([...made.keys, ...own, ...Object.keys(exports)])].sort(), exports };
}

export type Publishers = (name: string) => Publisher | null;

/** Composes the exports of each component once, however many others take them. */
export function publishersOf(app: App, around: Surroundings): Publishers {
  const known = new Map<string, Publisher | null>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const publisher = publisherOf(name, app, around);
    known.set(name, publisher);
    return publisher;
  };
}
