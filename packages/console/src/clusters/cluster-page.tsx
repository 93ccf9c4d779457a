import { EmptyState, Page } from "../parts/page.tsx";

export function ClusterPage() {
  return (
    <Page title="Cluster">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
