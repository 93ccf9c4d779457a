import type { CallName } from "@binnacle/client";
import type { UseQueryResult } from "@tanstack/react-query";
import { useMemo } from "react";
import { useRead } from "../api/queries.runner.ts";
import type { FleetCluster } from "./fleet-map.ts";

/** All clusters of an organization that the caller may see, in short. */
export const useFleet = (orgId: string) =>
  useRead("getFleet" as CallName, { org_id: orgId } as never, { refetchMs: 30_000 }) as unknown as UseQueryResult<{
    readonly clusters: readonly FleetCluster[];
  }>;

/** The names of the clusters by their ids. */
export function useClusterNames(orgId: string): ReadonlyMap<string, string> {
  const clusters = useFleet(orgId).data?.clusters;
  return useMemo(() => new Map(clusters?.map(({ id, name }) => [id, name])), [clusters]);
}
