import { useLocation, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { useRead } from "../api/queries.runner.ts";
import { useOrg } from "../frame/org.tsx";
import { Loaded } from "./loaded.tsx";

/** Shows an object under the organization that it belongs to. An address that names another one leads on to its own. */
export function InOwnOrg({ orgId, children }: { readonly orgId: string; readonly children: ReactNode }) {
  const org = useOrg();
  return orgId === org.id ? children : <ToOwnOrg id={orgId} />;
}

function ToOwnOrg({ id }: { readonly id: string }) {
  const owner = useRead("getOrg", { id });
  return <Loaded of={owner}>{({ slug }) => <Leave to={slug} />}</Loaded>;
}

/** The router's own `Navigate` begins anew at each render, and the page renders while the address changes: it would never end. */
function Leave({ to: slug }: { readonly to: string }) {
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const to = pathname.replace(/^\/o\/[^/]+/, () => `/o/${slug}`);
  useEffect(() => void navigate({ to, search: true as never, replace: true }), [navigate, to]);
  return null;
}
