import type { App } from "@binnacle/client";
import { EmptyState } from "../parts/page.tsx";

export function MetricsTab({
  app,
}: {
  readonly app: App;
  readonly component?: string | undefined;
  readonly pod?: string | undefined;
}) {
  return <EmptyState title="Not built yet">The metrics of {app.name} are being built.</EmptyState>;
}
