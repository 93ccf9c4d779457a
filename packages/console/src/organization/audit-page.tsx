import { EmptyState, Page } from "../parts/page.tsx";

export function AuditPage() {
  return (
    <Page title="Audit">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
