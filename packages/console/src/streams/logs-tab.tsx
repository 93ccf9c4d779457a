import type { App } from "@binnacle/client";
import { EmptyState } from "../parts/page.tsx";

export function LogsTab({
  app,
}: {
  readonly app: App;
  readonly component?: string | undefined;
  readonly pod?: string | undefined;
}) {
  return <EmptyState title="Not built yet">The logs of {app.name} are being built.</EmptyState>;
}
