import { EmptyState, Page } from "../parts/page.tsx";

export function TemplatesPage() {
  return (
    <Page title="Templates">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
