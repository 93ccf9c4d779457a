import { GitProblem } from "./git-problem.ts";
import { type GitObject, gitObject, isObjectId, objectId } from "./object.ts";

export interface Person {
  readonly name: string;
  readonly email: string;
}

/** Who did it, to the second, in UTC. */
export interface PersonAt extends Person {
  readonly at: Date;
}

export type Trailer = readonly [name: string, value: string];

export interface CommitDraft {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: PersonAt;
  readonly committer: PersonAt;
  /** One line. */
  readonly subject: string;
  readonly body?: string;
  readonly trailers?: readonly Trailer[];
}

export interface ParsedCommit {
  readonly id: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: PersonAt;
  readonly committer: PersonAt;
  readonly message: string;
  /** Of the last paragraph of the message, if it has nothing else. */
  readonly trailers: readonly Trailer[];
  /** As it stands in the header `gpgsig`; null where the commit is unsigned. */
  readonly signature: string | null;
  /** What the signature is about: the commit without it. */
  readonly payload: Buffer;
}

/** Returns the armored signature of a commit's content. */
export type Sign = (payload: Buffer) => string;

/** The same draft and the same ed25519 key give the same commit. */
export function commitOf(draft: CommitDraft, sign: Sign | null): GitObject {
  const head = [
    `tree ${draft.tree}`,
    ...draft.parents.map((parent) => `parent ${parent}`),
    `author ${personLine(draft.author)}`,
    `committer ${personLine(draft.committer)}`,
  ];
  const message = messageOf(draft);
  const payload = Buffer.from(`${head.join("\n")}\n\n${message}`);
  if (!sign) return gitObject("commit", payload);
  const signature = sign(payload).trimEnd().split("\n").join("\n ");
  return gitObject("commit", Buffer.from(`${[...head, `gpgsig ${signature}`].join("\n")}\n\n${message}`));
}

function personLine({ name, email, at }: PersonAt): string {
  const address = inOneLine(email).replace(/[<>\s]/g, "");
  const plain = inOneLine(name).replace(/[<>]/g, "").trim();
  return `${plain || address || "unknown"} <${address}> ${Math.floor(at.getTime() / 1000)} +0000`;
}

// Control characters would end the line, or the text.
const inOneLine = (text: string) =>
  text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, " ")
    .trim();

function messageOf({ subject, body = "", trailers = [] }: CommitDraft): string {
  const lines = body.toWellFormed().replaceAll("\0", "").replace(/\r\n?/g, "\n").split("\n");
  const text = lines
    .map((line) => line.trimEnd())
    .join("\n")
    .replace(/^\n+|\n+$/g, "");
  const last = trailers.map(([name, value]) => `${trailerName(name)}: ${inOneLine(value)}`).join("\n");
  return `${[inOneLine(subject), text, last].filter(Boolean).join("\n\n")}\n`;
}

function trailerName(name: string): string {
  if (!/^[A-Za-z][A-Za-z0-9-]*$/.test(name))
    throw new Error(`${JSON.stringify(name)} cannot be the name of a trailer.`);
  return name;
}

const HEADER = /^([a-z][a-z0-9-]*) ?([\s\S]*)$/;
const SIGNATURE = "gpgsig";

/** Reads a commit as Git stores it. Throws GitProblem where it is not one that Git itself would write. */
export function parseCommit(content: Buffer): ParsedCommit {
  const id = objectId("commit", content);
  const refuse = (what: string) => new GitProblem("unreadable", `The commit ${id} cannot be read: ${what}.`);
  const end = content.indexOf("\n\n");
  const headEnd = end === -1 ? content.length : end;
  const headers = headersOf(content.subarray(0, headEnd).toString("latin1"));
  if (!headers) throw refuse("its headers are malformed");
  const all = (wanted: string) => headers.filter(({ name }) => name === wanted);
  const [tree, author, committer] = ["tree", "author", "committer"].map((name) => all(name));
  const signatures = headers.filter(({ name }) => name.startsWith(SIGNATURE));
  const parents = all("parent").map(({ value }) => value);
  if (tree?.length !== 1 || !isObjectId(tree[0]?.value ?? "") || !parents.every(isObjectId)) {
    throw refuse("its tree or a parent is malformed");
  }
  // Git would put several together, so that nobody could say what was signed.
  if (signatures.length > 1 || signatures.some(({ name }) => name !== SIGNATURE)) {
    throw refuse("it has more than one signature, or one for another kind of repository");
  }
  const [by, to] = [author, committer].map((found) => (found?.length === 1 ? personOf(found[0]?.value ?? "") : null));
  if (!by || !to) throw refuse("its author or its committer is malformed");
  const [signature] = signatures;
  const message = content.subarray(Math.min(headEnd + 2, content.length)).toString("utf8");
  return {
    id,
    tree: tree[0]?.value ?? "",
    parents,
    author: by,
    committer: to,
    message,
    trailers: trailersOf(message),
    signature: signature?.value ?? null,
    payload: signature ? Buffer.concat([content.subarray(0, signature.from), content.subarray(signature.to)]) : content,
  };
}

interface Header {
  readonly name: string;
  readonly value: string;
  /** Where its lines begin and end, with the line break. */
  readonly from: number;
  readonly to: number;
}

/** A line that begins with a space continues the one before. */
function headersOf(head: string): readonly Header[] | null {
  const headers: Header[] = [];
  let from = 0;
  for (const block of head.split(/\n(?! )/)) {
    const to = from + block.length + 1;
    const [, name, value = ""] = HEADER.exec(block) ?? [];
    if (name === undefined) return null;
    headers.push({ name, value: value.replaceAll("\n ", "\n"), from, to });
    from = to;
  }
  return headers;
}

function personOf(line: string): PersonAt | null {
  const text = Buffer.from(line, "latin1").toString("utf8");
  const [, name = "", email = "", seconds] = /^([^<>\n]*)<([^<>\n]*)> (\d{1,12}) [+-]\d{4}$/.exec(text) ?? [];
  return seconds === undefined ? null : { name: name.trim(), email, at: new Date(Number(seconds) * 1000) };
}

function trailersOf(message: string): readonly Trailer[] {
  const paragraphs = message.trimEnd().split(/\n{2,}/);
  const lines = paragraphs.length > 1 ? (paragraphs.at(-1) ?? "").split("\n") : [];
  const trailers: Trailer[] = [];
  for (const line of lines) {
    const [, name, value = ""] = /^([A-Za-z][A-Za-z0-9-]*): ?(.*)$/.exec(line) ?? [];
    if (name === undefined) return [];
    trailers.push([name, value.trim()]);
  }
  return trailers;
}
