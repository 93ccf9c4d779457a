import { streamEvents } from "@binnacle/contract";
import { readerOf } from "../access/caller.ts";
import { signedIn } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { openStream } from "../http/sse.adapter.ts";
import type { Ports } from "../ports.ts";

export function eventRoutes({ broadcast }: Ports<"broadcast">): Route[] {
  return [
    route(streamEvents, signedIn, async ({ caller, credential, query, headers, reply }) => {
      const { resumable: isResumable, ...filter } = query;
      const lastEventId = headers["last-event-id"]?.toString();
      const subscription = { ...readerOf(credential, caller), filter, isResumable, lastEventId };
      await broadcast.join(subscription, () => openStream(reply));
      return null;
    }),
  ];
}
