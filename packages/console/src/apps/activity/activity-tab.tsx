import type { App } from "@binnacle/client";
import { EmptyState } from "../../parts/page.tsx";

export function ActivityTab({ app }: { readonly app: App }) {
  return <EmptyState title="Not built yet">The activity of {app.name} is being built.</EmptyState>;
}
