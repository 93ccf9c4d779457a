import { EmptyState, Page } from "../parts/page.tsx";

export function ProjectsPage() {
  return (
    <Page title="Projects">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
