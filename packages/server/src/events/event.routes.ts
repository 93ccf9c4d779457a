import { streamEvents } from "@binnacle/contract";
import { unauthenticated } from "../fault.ts";
import { signedIn } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { openStream } from "../http/sse.adapter.ts";
import type { Broadcast } from "./broadcast.runner.ts";

export function eventRoutes(broadcast: Broadcast): Route[] {
  return [
    route(streamEvents, signedIn, async ({ credential, query, reply }) => {
      if (credential?.kind !== "session") throw unauthenticated();
      await broadcast.join({ ...credential, filter: query }, () => openStream(reply));
      return null;
    }),
  ];
}
