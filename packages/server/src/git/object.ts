import { hash } from "node:crypto";

export type GitObjectType = "blob" | "commit" | "tree";

export interface GitObject {
  /** SHA-1 in hexadecimal digits, as Git computes it. */
  readonly id: string;
  readonly type: GitObjectType;
  readonly content: Buffer;
}

export function gitObject(type: GitObjectType, content: Buffer): GitObject {
  return { id: objectId(type, content), type, content };
}

export const blobOf = (content: Buffer | string): GitObject =>
  gitObject("blob", typeof content === "string" ? Buffer.from(content, "utf8") : content);

export const objectId = (type: GitObjectType, content: Buffer): string =>
  hash("sha1", Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]), "hex");

export const isObjectId = (text: string): boolean => /^[0-9a-f]{40}$/.test(text);
