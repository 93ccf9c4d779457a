import { streamEvents } from "@binnacle/contract";
import { readerOf } from "../access/caller.ts";
import { signedIn } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { openStream } from "../http/sse.adapter.ts";
import type { Broadcast } from "./broadcast.runner.ts";

export function eventRoutes(broadcast: Broadcast): Route[] {
  return [
    route(streamEvents, signedIn, async ({ caller, credential, query, reply }) => {
      await broadcast.join({ ...readerOf(credential, caller), filter: query }, () => openStream(reply));
      return null;
    }),
  ];
}
