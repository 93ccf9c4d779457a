import { useQuery } from "@tanstack/react-query";
import { isDocumentationOpen } from "./documentation.ts";

/** Whether this server has a page about its API that the user may open. False until it is known. */
export function useDocumentation(isSuperuser: boolean, enabled: boolean): boolean {
  const answer = useQuery({
    queryKey: ["/docs"],
    queryFn: async () => (await fetch("/docs", { method: "HEAD" })).status,
    staleTime: Number.POSITIVE_INFINITY,
    enabled,
  });
  return answer.data !== undefined && isDocumentationOpen(answer.data, isSuperuser);
}
