import { EmptyState, Page } from "../../parts/page.tsx";

export function CreateAppPage() {
  return (
    <Page title="Create App">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
