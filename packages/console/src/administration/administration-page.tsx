import { EmptyState, Page } from "../components/page.tsx";
import { PageTabs } from "../components/page-tabs.tsx";
import { useAccess } from "../frame/org.tsx";
import { OrgsTab } from "./orgs-tab.tsx";
import { SystemTab } from "./system-tab.tsx";
import { TiersTab } from "./tiers-tab.tsx";
import { UsersTab } from "./users-tab.tsx";

/** The whole installation, for superusers. */
export function AdministrationPage() {
  const access = useAccess();
  return (
    <Page title="Administration">
      {access.is_superuser ? (
        <PageTabs
          tabs={[
            { key: "organizations", label: "Organizations", render: () => <OrgsTab /> },
            { key: "users", label: "Users", render: () => <UsersTab /> },
            { key: "tiers", label: "Tiers and limits", render: () => <TiersTab /> },
            { key: "system", label: "System", render: () => <SystemTab /> },
          ]}
        />
      ) : (
        <EmptyState title="For superusers">
          Superusers administer the whole installation: its organizations, its users, and how much they may ask for.
        </EmptyState>
      )}
    </Page>
  );
}
