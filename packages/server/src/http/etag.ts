import type { IncomingHttpHeaders } from "node:http";
import type { FastifyReply } from "fastify";
import { Fault } from "../fault.ts";

/**
 * The version of a resource for optimistic concurrency. It includes the id, because a new resource may have the same
 * name.
 */
export interface Versioned {
  readonly id: string;
  readonly version: number;
}

export const etagOf = ({ id, version }: Versioned) => `"${id}.${version}"`;

export function sendEtag(reply: FastifyReply, versioned: Versioned): void {
  reply.header("etag", etagOf(versioned));
}

const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/** Throws the 412. Requires the row to be locked, otherwise the version could change before the write. */
export function requireMatch(headers: IncomingHttpHeaders, versioned: Versioned): void {
  const condition = headers["if-match"];
  if (condition === undefined || condition.trim() === "*") return;
  // RFC 9110 compares strongly here: a weak tag, `W/"…"`, never matches.
  const tags: string[] = condition.match(ENTITY_TAG) ?? [];
  if (!tags.includes(etagOf(versioned))) {
    throw new Fault("precondition_failed", "The resource has changed since it was read.");
  }
}
