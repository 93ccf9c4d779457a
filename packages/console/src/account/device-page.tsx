import { EmptyState, Page } from "../parts/page.tsx";

export function DevicePage() {
  return (
    <Page title="Device">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
