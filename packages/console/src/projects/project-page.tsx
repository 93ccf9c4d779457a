import { EmptyState, Page } from "../parts/page.tsx";

export function ProjectPage() {
  return (
    <Page title="Project">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
