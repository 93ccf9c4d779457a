import type { Cluster } from "@binnacle/client";
import { useRead } from "../api/queries.runner.ts";

/** The name of a cluster's provider. Without one it is a cluster that was brought along. */
export function ProviderName({ of }: { readonly of: Cluster["provider"] }) {
  const clouds = useRead("listCloudProviders", {}, { enabled: of !== null });
  if (of === null) return "Own cluster";
  return clouds.data?.data.find(({ provider }) => provider === of)?.name ?? of.toUpperCase();
}
