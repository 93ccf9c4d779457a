import { CONTRACT, getVersion } from "@binnacle/contract";
import { signedIn } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";

export function versionRoutes(build: string | null): Route[] {
  return [route(getVersion, signedIn, async () => ({ contract: CONTRACT, build }))];
}
