import { Page } from "../components/page.tsx";
import { type PageTab, PageTabs } from "../components/page-tabs.tsx";
import { useMay } from "../frame/org.tsx";
import { ChartRepositories } from "./chart-repositories.tsx";
import { CloudCredentials } from "./cloud-credentials.tsx";

const clouds: PageTab = { key: "clouds", label: "Clouds", render: () => <CloudCredentials /> };
const charts: PageTab = { key: "charts", label: "Chart repositories", render: () => <ChartRepositories /> };

/** The keys of the organization: for clouds, and for private chart repositories. Their values are written and never shown. */
export function CredentialsPage() {
  const may = useMay();
  return (
    <Page
      title="Credentials"
      detail="Secrets are sealed when they are stored. Nobody can read them back, also not here."
    >
      <PageTabs tabs={may("listCredentials") ? [clouds, charts] : [charts]} />
    </Page>
  );
}
