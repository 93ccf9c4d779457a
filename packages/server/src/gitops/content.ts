import { ANNOTATIONS, API_GROUP, API_VERSION, type DesiredBodies, type DesiredKind } from "@binnacle/contract";
import type { DesiredFile } from "../dispatch/kind.ts";
import { yamlText } from "./yaml-text.ts";

/** The content of files by their paths; null where a file goes. */
export type Files = Readonly<Record<string, string | null>>;

export const README_PATH = "README.md";
export const README = `# Desired state of a cluster

Binnacle writes this repository: one commit for each change, by the person who made it, signed by Binnacle. There is one file for
each object, in the form in which the operator stores it in the cluster.

Secrets are not here. Where one belongs, under \`secret\`, stands \`hmac-sha256:\` with a keyed fingerprint, which changes with it.

Do not push here: Binnacle never overwrites the commits of others, and stops writing until they are gone.
`;

/** What the body of a resource is, or why there is none that could be sent. */
export type Rendered =
  | { readonly body: DesiredBodies[DesiredKind] }
  /** It cannot be sent as it is, for example because its definition has left the catalog. */
  | { readonly problem: string };

/** The text of one file. Keys are sorted, so that equal content is an equal text. */
export function fileText({ kind, name, namespace }: DesiredFile, resourceId: string, rendered: Rendered): string {
  const object = {
    apiVersion: `${API_GROUP}/${API_VERSION}`,
    kind,
    metadata: {
      name,
      ...(namespace === null ? {} : { namespace }),
      annotations: {
        [ANNOTATIONS.resourceId]: resourceId,
        ...("problem" in rendered ? { [`${API_GROUP}/not-sent`]: rendered.problem } : {}),
      },
    },
    ...("body" in rendered ? partsOf(rendered.body) : {}),
  };
  return yamlText(object);
}

function partsOf({ spec, secret }: DesiredBodies[DesiredKind]) {
  const isEmpty = Object.values(secret).every((part) => Object.keys(part as object).length === 0);
  return isEmpty ? { spec } : { spec, secret };
}

/** Bytes of the files together. */
export const bytesOf = (files: Files): number =>
  Object.entries(files).reduce((sum, [path, text]) => sum + Buffer.byteLength(path) + Buffer.byteLength(text ?? ""), 0);
