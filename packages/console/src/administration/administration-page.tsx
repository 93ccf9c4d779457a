import { EmptyState, Page } from "../parts/page.tsx";

export function AdministrationPage() {
  return (
    <Page title="Administration">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
