import { createHash } from "node:crypto";
import { canonicalJson, type DesiredBodies, type DesiredKind, type HubFrames } from "@binnacle/contract";
import type { PendingRow } from "../dispatch/kind.ts";

/** A body as it is sent, and the hash under which the cluster keeps it. */
export interface Content {
  readonly text: string;
  readonly hash: string;
}

export function contentOf(body: DesiredBodies[DesiredKind]): Content {
  const text = canonicalJson(body);
  return { text, hash: createHash("sha256").update(text).digest("hex") };
}

/** Put together from text: the body is written as JSON once, for the hash and for the wire. */
export function applyText(row: PendingRow, content: Content, id: string, session: string): string {
  const { kind, key, resource_id, generation } = row;
  const head: Omit<HubFrames["apply"], "body"> = {
    type: "apply",
    id,
    session,
    kind,
    key,
    resource_id,
    generation,
    hash: content.hash,
  };
  return `${JSON.stringify(head).slice(0, -1)},"body":${content.text}}`;
}

export function removeText({ kind, key, resource_id, generation }: PendingRow, id: string, session: string): string {
  const frame: HubFrames["remove"] = { type: "remove", id, session, kind, key, resource_id, generation };
  return JSON.stringify(frame);
}
