import { EmptyState, Page } from "../parts/page.tsx";

export function TemplatePage() {
  return (
    <Page title="Template">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
