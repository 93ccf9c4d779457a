import { EmptyState, Page } from "../parts/page.tsx";

export function AccountPage() {
  return (
    <Page title="Account">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
