import { EmptyState, Page } from "../parts/page.tsx";

export function AppPage() {
  return (
    <Page title="App">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
