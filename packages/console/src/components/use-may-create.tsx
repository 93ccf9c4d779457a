import type { OperationName } from "@binnacle/client";
import { useAccess, useMay, useOrg } from "../frame/org.tsx";

/** Somebody who is editor of any project may create something in it; the form offers those projects. */
export function useMayCreate(operation: OperationName): boolean {
  const org = useOrg();
  const may = useMay();
  const access = useAccess();
  return (
    may(operation) ||
    access.projects.some((each) => each.org_id === org.id && each.role !== "viewer") ||
    access.clusters.some((each) => each.org_id === org.id && each.role !== "viewer")
  );
}
