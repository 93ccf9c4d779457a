import { EmptyState, Page } from "../parts/page.tsx";

export function MembersPage() {
  return (
    <Page title="Members">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
