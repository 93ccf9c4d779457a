import { EmptyState, Page } from "../parts/page.tsx";

export function CreateTemplatePage() {
  return (
    <Page title="Create Template">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
