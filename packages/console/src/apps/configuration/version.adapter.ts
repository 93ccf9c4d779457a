import type { App } from "@binnacle/client";
import { client } from "../../api/session.adapter.ts";
import { addressOf } from "../app-address.ts";

/** A version of the app, and the tag by which a change says that it is about this version. */
export interface Version {
  readonly app: App;
  readonly etag: string | null;
}

export async function readVersion(app: App, signal?: AbortSignal): Promise<Version> {
  const { data, etag } = await client.send("getApp", addressOf(app), { signal });
  return { app: data, etag };
}
