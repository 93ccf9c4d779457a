import { EmptyState, Page } from "../parts/page.tsx";

export function SettingsPage() {
  return (
    <Page title="Settings">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
