import { EmptyState, Page } from "../parts/page.tsx";

export function BundlesPage() {
  return (
    <Page title="Bundles">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
