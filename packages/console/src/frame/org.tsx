import type { OperationName, Organization } from "@binnacle/client";
import { createContext, type ReactNode, useContext } from "react";
import { type Access, type Place, permits } from "../api/access.ts";
import { useRead } from "../api/queries.runner.ts";

const OrgContext = createContext<Organization | null>(null);
export const OrgProvider = OrgContext.Provider;

/** The organization of the address; null outside of `/o/`. */
export const useOrgIfAny = (): Organization | null => useContext(OrgContext);

/** The organization of the address. Only pages below `/o/` may call it. */
export function useOrg(): Organization {
  const org = useOrgIfAny();
  if (!org) throw new Error("This page belongs to an organization, and stands outside of one.");
  return org;
}

const NOTHING: Access = { is_superuser: false, orgs: [], clusters: [], projects: [], more_roles: 0 };

/** The caller's own roles; none until they have been read, so that nothing is offered too early. */
export function useAccess(): Access {
  return useRead("getMyAccess", {}, { refetchMs: 60_000 }).data ?? NOTHING;
}

/** Whether the caller's roles have been read. */
export const useIsAccessKnown = (): boolean => useAccess() !== NOTHING;

/** Whether the caller may call an operation in a place. The organization of the address is filled in. */
export function useMay(): (operation: OperationName, place?: Place) => boolean {
  const access = useAccess();
  const org = useOrgIfAny();
  return (operation, place = {}) => permits(operation, access, { orgId: org?.id, ...place });
}

/** Shows its children to those who may call the operation. */
export function Allowed(props: { readonly to: OperationName; readonly in?: Place; readonly children: ReactNode }) {
  const may = useMay();
  return may(props.to, props.in) ? props.children : null;
}
