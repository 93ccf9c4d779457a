import { EmptyState, Page } from "../parts/page.tsx";

export function CredentialsPage() {
  return (
    <Page title="Credentials">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
