import type { KubeObject } from "../../kube/kube-client.ts";
import type { Invalid, RenderedComponent } from "./rendering.ts";

type Drawn = Pick<RenderedComponent, "name" | "objects">;

/** Kubernetes takes no ConfigMap or Secret that holds more. */
const MOST_DATA_BYTES = 1024 * 1024;

/** What can be seen only once everything has its name and content. */
export const renderedProblem = (components: readonly Drawn[]): Invalid | null =>
  repeatedName(components) ?? tooLarge(components);

function repeatedName(components: readonly Drawn[]): Invalid | null {
  const owners = new Map<string, string>();
  for (const { name: component, objects } of components) {
    for (const { kind, metadata } of objects) {
      const owner = owners.get(`${kind}/${metadata.name}`);
      if (owner !== undefined) {
        const message = `Components ${owner} and ${component} would both have a ${kind} ${metadata.name}: rename one of them.`;
        return { invalid: "DuplicateName", message };
      }
      owners.set(`${kind}/${metadata.name}`, component);
    }
  }
  return null;
}

const FIELDS: Readonly<Record<string, string>> = { ConfigMap: "variables", Secret: "secrets" };

function tooLarge(components: readonly Drawn[]): Invalid | null {
  for (const { name, objects } of components) {
    const large = objects.find((object) => FIELDS[object.kind] && dataBytes(object) > MOST_DATA_BYTES);
    if (large) {
      const message = `The ${FIELDS[large.kind]} of component ${name} are larger than 1 MiB together.`;
      return { invalid: "TooLarge", message };
    }
  }
  return null;
}

function dataBytes({ kind, data = {} }: KubeObject): number {
  const encoding = kind === "Secret" ? "base64" : "utf8";
  return Object.entries(data as Record<string, string>)
    .map(([key, value]) => key.length + Buffer.byteLength(value, encoding))
    .reduce((sum, bytes) => sum + bytes, 0);
}
