import { Tabs } from "@mantine/core";
import { useMay } from "../frame/org.tsx";
import { Page } from "../parts/page.tsx";
import { usePageSearch } from "../parts/use-search.tsx";
import { ChartRepositories } from "./chart-repositories.tsx";
import { CloudCredentials } from "./cloud-credentials.tsx";

/** The keys of the organization: for clouds, and for private chart repositories. Their values are written and never shown. */
export function CredentialsPage() {
  const may = useMay();
  const [search, choose] = usePageSearch();
  const seesClouds = may("listCredentials");
  return (
    <Page
      title="Credentials"
      detail="Secrets are sealed when they are stored. Nobody can read them back, also not here."
    >
      <Tabs
        value={search["tab"] ?? (seesClouds ? "clouds" : "charts")}
        onChange={(tab) => choose({ tab: tab ?? undefined })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {seesClouds ? <Tabs.Tab value="clouds">Clouds</Tabs.Tab> : null}
          <Tabs.Tab value="charts">Chart repositories</Tabs.Tab>
        </Tabs.List>
        {seesClouds ? (
          <Tabs.Panel value="clouds">
            <CloudCredentials />
          </Tabs.Panel>
        ) : null}
        <Tabs.Panel value="charts">
          <ChartRepositories />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
