import { EmptyState, Page } from "../parts/page.tsx";

export function OverviewPage() {
  return (
    <Page title="Overview">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
