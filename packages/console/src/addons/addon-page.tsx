import { EmptyState, Page } from "../parts/page.tsx";

export function AddonPage() {
  return (
    <Page title="Addon">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
