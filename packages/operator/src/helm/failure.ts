import { type Reason, safeText } from "@binnacle/contract";
import { type Fields, fieldsIn, textIn } from "../kube/object-fields.ts";
import type { Rights } from "./rights.ts";

/** The reason of a failure that is about rights: the chart brings or asks for what its project may not. */
export const FORBIDDEN = "ForbiddenObject";
/** An annotation with which a chart could ask for hosts that nobody sees. */
export const FORBIDDEN_ANNOTATION = "ForbiddenAnnotation";
/** Rendered text that Kubernetes may read differently from what was inspected. */
export const UNREADABLE = "UnreadableManifest";

/** Why Helm failed, in a sentence that is safe to show. */
export class HelmFailure extends Error {
  override readonly name = "HelmFailure";
  /** One word for programs, where there is a particular one. */
  readonly reason: Reason | null;

  constructor(message: string, reason: Reason | null = null) {
    super(message);
    this.reason = reason;
  }
}

const LONGEST_DETAIL = 400;
/** Shorter ones are words like `yes`, whose disguise would only garble the sentence. */
const SHORTEST_VALUE = 4;

/** Helm stores the chart and all that it makes in one Secret. */
export const TOO_LARGE =
  "The release is larger than the megabyte that Kubernetes stores of it. Leave large files out of the chart, or divide it.";

/** Known errors of Helm, with our own sentences that quote nothing but names. */
const KNOWN: readonly (readonly [RegExp, (found: readonly string[]) => string])[] = [
  [
    /(\w+) "([^"]+)" in namespace "[^"]*" exists and cannot be imported/,
    ([, kind, name]) => `${kind} ${name} exists already and does not belong to the release.`,
  ],
  [/no such host|connection refused|i\/o timeout|network is unreachable/, () => "An address cannot be reached."],
  [/Too long: (?:may not be more than|must have at most) 1048576 bytes/, () => TOO_LARGE],
  [/another operation \(.*\) is in progress/, () => "Another program works on the release."],
  [/timed out waiting for the condition|context deadline exceeded/, () => "A hook of the chart did not end in time."],
  [/release .* has been cancel+ed|context canceled/i, () => "It was broken off."],
];

/** The chart speaks, or what it was rendered into does; both may quote values. */
const DETAILED: readonly (readonly [RegExp, string])[] = [
  [/execution error at \([^)]*\): ([\s\S]*)/, "The chart refuses its values"],
  [/values don't meet the specifications of the schema[^\n]*\n?([\s\S]*)/, "The chart does not take its values"],
  [/((?:YAML parse error on|template: |error calling )[\s\S]*)/, "The chart cannot be rendered"],
];

/** The wording of the API server's authorizer, with the object that Helm names before it. */
const DENIED =
  /(?:(?:resource |Kind=)(?<kind>[A-Z]\w*)\b[^\n]{0,400}?)?(?<plural>[\w.-]+)(?: "(?<name>[^"]*)")? is forbidden: User "(?<user>[^"]+)" cannot (?<verb>\w+) resource "(?<resource>[^"]+)" in API group "[^"]*" (?:in the namespace "(?<namespace>[^"]*)"|at the cluster scope)/;
const GRANTS_MORE =
  /(?<plural>[\w.-]+) "(?<name>[^"]+)" is forbidden: user "(?<user>[^"]+)" [^\n]*is attempting to grant RBAC permissions not currently held/;
const NOT_OF_THE_ROLE =
  "The rbac.chartRules of the operator's chart can allow charts other kinds in the namespaces of projects.";

/**
 * The request that the API server has forbidden, where Helm failed because of that; null otherwise. Names of objects
 * are shown, because they are not secret even where they contain values.
 */
export function denialFor(output: string, { user, namespace: here, remedy }: Rights): HelmFailure | null {
  const text = textAroundDenial(errorText(output));
  const more = GRANTS_MORE.exec(text)?.groups;
  if (more?.["user"] === user) {
    const sentence = `The chart's ${nameText(more["plural"])} ${nameText(more["name"])} would grant rights that charts do not have themselves.`;
    return new HelmFailure(safeText(`${sentence} ${remedy}`), FORBIDDEN);
  }
  const { kind, plural, name, verb, resource, namespace: place, user: denied } = DENIED.exec(text)?.groups ?? {};
  // Kubernetes counts a namespace as something in itself.
  const namespace = resource === "namespaces" ? undefined : place;
  if (verb === "impersonate") {
    return new HelmFailure("The operator may not act for charts of this namespace: upgrade its own chart.", FORBIDDEN);
  }
  if (denied !== user) return null;
  const where = namespace === undefined ? "of the whole cluster" : `in the namespace ${nameText(namespace)}`;
  const title = [nameText(kind ?? plural), nameText(name), where].filter((part) => part !== "").join(" ");
  const isHeld = kind !== undefined && namespace !== here;
  const sentence = isHeld ? outsideSentence([title], here, remedy) : `The chart may not ${verb} ${title}. ${remedy}`;
  return new HelmFailure(safeText(namespace === here ? `${sentence} ${NOT_OF_THE_ROLE}` : sentence), FORBIDDEN);
}

const MOST_AROUND = 600;

/** Only what stands close to it, because a chart can make Helm say very much. */
function textAroundDenial(text: string): string {
  const at = text.search(/ is forbidden: user "/i);
  return at < 0 ? "" : text.slice(Math.max(0, at - MOST_AROUND), at + MOST_AROUND);
}

/** Advice to use options of a program that people do not see. */
const ADVICE = /\s*Use --debug flag to render out invalid YAML\s*$/;

const errorText = (output: string): string =>
  output
    .slice(Math.max(0, output.lastIndexOf("Error:")))
    .replace(/^Error:\s*/, "")
    .replace(ADVICE, "");

/** `values` are those of the release: whatever of them is quoted is masked. */
export function failureSentence(output: string, values: unknown): string {
  const text = errorText(output);
  for (const [pattern, sentence] of KNOWN) {
    const found = pattern.exec(text);
    if (found) return safeText(masked(sentence(found), values));
  }
  const [pattern, title] = DETAILED.find(([one]) => one.test(text)) ?? [/([\s\S]*)/, "Helm failed"];
  const detail = (pattern.exec(text)?.[1] ?? "").replace(/\s+/g, " ").trim();
  return detail === "" ? `${title}.` : safeText(`${title}: ${masked(detail, values).slice(0, LONGEST_DETAIL)}`);
}

function masked(text: string, values: unknown): string {
  return [...new Set(textsIn(values).flatMap(encodings))]
    .filter(({ length }) => length >= SHORTEST_VALUE)
    .sort((one, other) => other.length - one.length)
    .reduce((rest, secret) => rest.replaceAll(secret, "[masked]"), text);
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The forms in which a value comes back: by lines, with its spaces drawn together, escaped, or as in a Secret. */
function encodings(text: string): string[] {
  return [
    text,
    ...text.split("\n").map((line) => line.trim()),
    text.replace(/\s+/g, " ").trim(),
    JSON.stringify(text).slice(1, -1),
    Buffer.from(text).toString("base64"),
  ];
}

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

/** Keeps the part of a chart's text that can be the name of an object. */
const nameText = (text = ""): string => text.replace(/[^\w.:\u2026-]/g, "").slice(0, LONGEST_NAME);

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
