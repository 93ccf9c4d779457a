import { EmptyState, Page } from "../parts/page.tsx";

export function AppsPage() {
  return (
    <Page title="Apps">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
