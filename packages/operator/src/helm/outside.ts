import { type Fields, fieldsIn, textIn } from "../kube/object-fields.ts";

/** An object that a chart brings, as far as it matters where it lives. */
export interface Brought {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Null where none is given. */
  readonly namespace: string | null;
}

/** Null where the cluster knows no such kind, or does not know it yet. */
export type IsNamespaced = (apiVersion: string, kind: string) => Promise<boolean | null>;

export function broughtBy({ apiVersion, kind, metadata }: Fields): Brought[] {
  if (textIn(kind) === "") return [];
  const { name, generateName, namespace } = fieldsIn(metadata);
  return [
    {
      apiVersion: textIn(apiVersion),
      kind: textIn(kind),
      name: textIn(name) || `${textIn(generateName)}…`,
      namespace: textIn(namespace) || null,
    },
  ];
}

const LONGEST_NAME = 253;

/** What of a text that a chart has written can be the name of an object. */
export const nameText = (text = ""): string => text.replace(/[^\w.:…-]/g, "").slice(0, LONGEST_NAME);

/** Those that are of the whole cluster or of another namespace, in words. */
export async function outsideOf(
  objects: readonly Brought[],
  here: string,
  isNamespaced: IsNamespaced,
): Promise<string[]> {
  const titles = await Promise.all(
    objects.map(async ({ apiVersion, kind, name, namespace }) => {
      const title = `${nameText(kind)} ${nameText(name)}`;
      if ((await isNamespaced(apiVersion, kind)) === false) return `${title} of the whole cluster`;
      return namespace === null || namespace === here ? null : `${title} in the namespace ${nameText(namespace)}`;
    }),
  );
  return [...new Set(titles.filter((title) => title !== null))];
}

const MOST_NAMED = 3;

/** Why a release with such objects is not made, with what can be done about it. */
export function outsideSentence(titles: readonly string[], here: string, remedy: string): string {
  const more = titles.length > MOST_NAMED ? ` and ${titles.length - MOST_NAMED} more` : "";
  return `The chart holds objects outside the namespace ${here}: ${titles.slice(0, MOST_NAMED).join(", ")}${more}. ${remedy}`;
}
