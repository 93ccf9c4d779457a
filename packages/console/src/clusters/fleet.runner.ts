import { useMemo } from "react";
import { useRead } from "../api/queries.runner.ts";

/** The clusters of an organization that the caller may see, in short: all of them, or the first 10,000. */
export const useFleet = (orgId: string) => useRead("getFleet", { org_id: orgId }, { refetchMs: 30_000 });

/** The names of the clusters by their ids. */
export function useClusterNames(orgId: string): ReadonlyMap<string, string> {
  const clusters = useFleet(orgId).data?.data;
  return useMemo(() => new Map(clusters?.map(({ id, name }) => [id, name])), [clusters]);
}
