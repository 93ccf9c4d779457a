import { useRead } from "../api/queries.runner.ts";
import { Loaded } from "../components/loaded.tsx";
import { Page } from "../components/page.tsx";
import { PageTabs } from "../components/page-tabs.tsx";
import { ProfileTab } from "./profile-tab.tsx";
import { SessionsTab } from "./sessions-tab.tsx";
import { TokensTab } from "./tokens-tab.tsx";

/** The own account: who one is, and everything that acts in one's name. */
export function AccountPage() {
  const me = useRead("getMe", {});
  return (
    <Page title="Account" detail={me.data ? `${me.data.username}, ${me.data.email}` : null}>
      <PageTabs
        tabs={[
          {
            key: "profile",
            label: "Profile",
            render: () => <Loaded of={me}>{(data) => <ProfileTab me={data} />}</Loaded>,
          },
          { key: "sessions", label: "Sessions", render: () => <SessionsTab /> },
          { key: "tokens", label: "CLI tokens", render: () => <TokensTab /> },
        ]}
      />
    </Page>
  );
}
