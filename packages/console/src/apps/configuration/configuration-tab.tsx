import type { App } from "@binnacle/client";
import { EmptyState } from "../../parts/page.tsx";

export function ConfigurationTab({ app }: { readonly app: App }) {
  return <EmptyState title="Not built yet">The configuration of {app.name} is being built.</EmptyState>;
}
