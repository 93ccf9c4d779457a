import { type BundleManifest, diffBundles, getBundle, listBundles } from "@binnacle/contract";
import { notFound } from "../fault.ts";
import { signedIn } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { diffBundles as differences, summaryOf } from "./bundle.ts";

/** Expects `bundles` oldest first. */
export function bundleRoutes({ catalog: { bundles } }: Ports<"catalog">): Route[] {
  const byVersion = new Map(bundles.map((manifest) => [manifest.bundle, manifest]));

  function known(version: string): BundleManifest {
    const manifest = byVersion.get(version);
    if (!manifest) throw notFound("Bundle");
    return manifest;
  }

  return [
    route(listBundles, signedIn, async () => ({ data: bundles.map(summaryOf), total_count: bundles.length })),
    route(getBundle, signedIn, async ({ params }) => known(params.version)),
    route(diffBundles, signedIn, async ({ params }) => differences(known(params.version), known(params.other))),
  ];
}
