import { clipped, type FieldChange, type Shown } from "../field-change.ts";

export const LONGEST_SUMMARY = 200;
const LONGEST_PHRASE = 120;
const LONGEST_VALUE = 40;
/** As many changes of one kind are named one by one. */
const MOST_NAMED = 3;

interface Phrase {
  readonly component: string | null;
  readonly text: string;
  /** The number of changes that it tells of. */
  readonly changeCount: number;
}

/** Says what has changed in one line, behind the words of `lead`. What does not fit is counted. */
export const changeSentence = (changes: readonly FieldChange[], lead = ""): string => joined(phrasesOf(changes), lead);

export const creationSentence = (changes: readonly FieldChange[]): string =>
  joined(
    changes.flatMap((change) =>
      change.field === "component" ? [{ component: null, text: nameOf(change), changeCount: 1 }] : [],
    ),
    "Created",
  );

function joined(phrases: readonly Phrase[], lead: string): string {
  let text = lead;
  let left = phrases.reduce((sum, { changeCount }) => sum + changeCount, 0);
  let last: Phrase | null = null;
  for (const phrase of phrases) {
    const longer: string = `${text}${glue(last, phrase, lead)}${phrase.text}`;
    left -= phrase.changeCount;
    if (`${longer}${more(left)}`.length > LONGEST_SUMMARY) return `${text}${more(left + phrase.changeCount)}`;
    [text, last] = [longer, phrase];
  }
  return text;
}

const more = (count: number) => (count === 0 ? "" : ` and ${count} more`);

/** Phrases about one component stand together behind its name. */
function glue(last: Phrase | null, { component }: Phrase, lead: string): string {
  if (last && last.component === component) return ", ";
  const begin = last ? "; " : lead === "" ? "" : ": ";
  return component === null ? begin : `${begin}${component}: `;
}

function phrasesOf(changes: readonly FieldChange[]): Phrase[] {
  const secrets = changes.filter(({ field }) => groupOf(field) === "secrets");
  // One secret is named, at its component.
  const isCounted = secrets.length > 1;
  const others = isCounted ? changes.filter(({ field }) => groupOf(field) !== "secrets") : changes;
  const groups = Map.groupBy(others, ({ component, field }) => `${component}/${groupOf(field)}`);
  return [
    ...[...groups.values()].flatMap(groupPhrases),
    ...(isCounted ? [{ component: null, text: counted(secrets, "secret"), changeCount: secrets.length }] : []),
  ];
}

/** The members of these have names and come in numbers; their group is one word and its plural. */
const MEMBERS: Readonly<Record<string, string>> = {
  env: "variable",
  files: "file",
  ports: "port",
  values: "value",
  labels: "label",
  annotations: "annotation",
  exports: "export",
  export_refs: "reference",
};

/** Fields that are one thing to people, such as those of an ingress or of one sidecar, are one group. */
function groupOf(field: string): string {
  const [first = "", second = ""] = field.split(".", 2);
  return ["init_containers", "sidecars", "volumes", "probes"].includes(first) ? `${first}.${second}` : first;
}

function groupPhrases(changes: readonly FieldChange[]): Phrase[] {
  const [first] = changes;
  if (!first) return [];
  const { component, field, change } = first;
  if (field === "component") return [{ component: null, text: `${nameOf(first)} ${change}`, changeCount: 1 }];
  const group = groupOf(field);
  const noun = MEMBERS[group];
  const together = (text: string) => [{ component, text: clipped(text, LONGEST_PHRASE), changeCount: changes.length }];
  if (noun && changes.length > MOST_NAMED) return together(counted(changes, noun));
  if (!noun && changes.length > 1 && change !== "changed" && changes.every((other) => other.change === change)) {
    const host = changes.find((each) => each.field === "ingress.host")?.after ?? null;
    return together(`${labelOf(group)}${host === null ? "" : ` ${shortened(host)}`} ${change}`);
  }
  return changes.map((each) => ({ component, text: clipped(phraseOf(each), LONGEST_PHRASE), changeCount: 1 }));
}

const nameOf = ({ component, before, after }: FieldChange): string =>
  `${component} (${shortened(shortDigest(String(after ?? before)))})`;

function counted(changes: readonly FieldChange[], noun: string): string {
  const words = new Set(changes.map(({ change }) => change));
  return `${changes.length} ${noun}s ${words.size === 1 ? [...words].join() : "changed"}`;
}

function phraseOf({ field, change, before, after }: FieldChange): string {
  if (field === "paused") return after === true ? "paused" : "resumed";
  if (field === "description") return `description ${change}`;
  if (field === "replicas" && change === "changed") return `${before} → ${after} replicas`;
  const label = labelOf(field);
  if (change === "removed") return `${label} removed`;
  if (change === "added") {
    const value = after === null ? "" : `${field.startsWith("env.") ? "=" : " "}${shortened(after)}`;
    return `${label}${value} added`;
  }
  if (before === null && after === null) return `${label} changed`;
  const values = isImage(field) ? imagePair(String(before), String(after)) : [shortened(before), shortened(after)];
  return `${label} ${values.join(" → ")}`;
}

const isImage = (field: string) => field === "image" || /^(init_containers|sidecars)\.[^.]+\.image$/.test(field);

const LABELS: readonly (readonly [RegExp, string])[] = [
  [/^resources\.limits\.(\w+)$/, "$1 limit"],
  [/^resources\.requests\.(\w+)$/, "$1 request"],
  [/^addon\.chart_version$/, "chart version"],
  [/^export_refs\./, "reference to "],
  [/^init_containers\./, "init container "],
  [/^(sidecar|file|port|value|label|annotation|export|volume|secret|probe)s\./, "$1 "],
  [/^(env|chart|addon|ingress|autoscale|security_context)\./, "$1 "],
];

function labelOf(field: string): string {
  const found = LABELS.find(([pattern]) => pattern.test(field));
  return oneLine(found ? field.replace(found[0], found[1]) : field).replace(/^security_context/, "security context");
}

const shortened = (value: Shown): string => {
  const text = oneLine(String(value));
  return text === "" ? '""' : clipped(text, LONGEST_VALUE);
};

/** Line breaks, control characters and marks of the writing direction would change how the rest of the line is read. */
const oneLine = (text: string) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");

/** Two images with the same path differ in their tags or digests, and only these are shown. */
function imagePair(before: string, after: string): readonly [string, string] {
  const [old, now] = [parsed(before), parsed(after)];
  if (old.path !== now.path) return [shortened(shortDigest(before)), shortened(shortDigest(after))];
  const isTag = old.tag !== now.tag;
  const part = ({ tag, digest }: typeof old) => shortened((isTag ? tag : shortDigest(digest)) || "(none)");
  return [part(old), part(now)];
}

function parsed(image: string) {
  const [named = "", digest = ""] = image.split("@", 2);
  const colon = named.lastIndexOf(":");
  const hasTag = colon > named.lastIndexOf("/");
  return { path: hasTag ? named.slice(0, colon) : named, tag: hasTag ? named.slice(colon + 1) : "", digest };
}

const shortDigest = (text: string) => text.replace(/(sha256|sha512):([0-9a-f]{12})[0-9a-f]+/, "$1:$2");
