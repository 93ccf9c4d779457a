import { EmptyState, Page } from "../parts/page.tsx";

export function AddonsPage() {
  return (
    <Page title="Addons">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
