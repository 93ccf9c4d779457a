import { parseConfig } from "./config.ts";
import type { Route } from "./http/route.ts";
import { apiRoutes } from "./routes.ts";

/** Every route of the API, to be described and not to be called: nothing stands behind them. */
export function describedRoutes(): Route[] {
  const catalog = { bundles: [], addons: [], templates: [] };
  return apiRoutes({ catalog } as unknown as Parameters<typeof apiRoutes>[0], parseConfig({}));
}
