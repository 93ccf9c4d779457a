import { EmptyState, Page } from "../parts/page.tsx";

export function JobPage() {
  return (
    <Page title="Job">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
