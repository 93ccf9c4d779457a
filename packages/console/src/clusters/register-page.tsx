import { EmptyState, Page } from "../parts/page.tsx";

export function RegisterPage() {
  return (
    <Page title="Register">
      <EmptyState title="Not built yet">This page is being built.</EmptyState>
    </Page>
  );
}
