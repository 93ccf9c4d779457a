import { Tabs } from "@mantine/core";
import { useRead } from "../api/queries.runner.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { usePageSearch } from "../parts/use-search.tsx";
import { ProfileTab } from "./profile-tab.tsx";
import { SessionsTab } from "./sessions-tab.tsx";
import { TokensTab } from "./tokens-tab.tsx";

/** The own account: who one is, and everything that acts in one's name. */
export function AccountPage() {
  const me = useRead("getMe", {});
  const [search, choose] = usePageSearch();
  return (
    <Page title="Account" detail={me.data ? `${me.data.username}, ${me.data.email}` : null}>
      <Tabs
        value={search["tab"] ?? "profile"}
        onChange={(tab) => choose({ tab: tab ?? undefined })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="profile">Profile</Tabs.Tab>
          <Tabs.Tab value="sessions">Sessions</Tabs.Tab>
          <Tabs.Tab value="tokens">CLI tokens</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="profile">
          <Loaded of={me}>{(data) => <ProfileTab me={data} />}</Loaded>
        </Tabs.Panel>
        <Tabs.Panel value="sessions">
          <SessionsTab />
        </Tabs.Panel>
        <Tabs.Panel value="tokens">
          <TokensTab />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
