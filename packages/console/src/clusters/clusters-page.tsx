import { EmptyState, Page } from "../parts/page.tsx";

export function ClustersPage() {
  return (
    <Page title="Clusters">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
