import { SegmentedControl } from "@mantine/core";
import { lazily } from "../components/loaded.tsx";
import { Page } from "../components/page.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { useOrg } from "../frame/org.tsx";
import { AppSource } from "./create/app-source.tsx";
import { YamlSource } from "./create/yaml-source.tsx";

const ChartSource = lazily(async () => (await import("./create/chart-source.tsx")).ChartSource);
const EditTemplate = lazily(async () => (await import("./create/edit-template.tsx")).EditTemplate);

const SOURCES = [
  { value: "yaml", label: "From YAML" },
  { value: "app", label: "From an app" },
  { value: "chart", label: "From a chart" },
] as const;

/** Makes a template in one of three ways, or changes the one that the address names. */
export function CreateTemplatePage() {
  const org = useOrg();
  const [search, choose] = usePageSearch();
  const [namespace, name] = search["edit"]?.split("/") ?? [];
  if (namespace && name) {
    return (
      <Page title={`Edit ${name}`} detail="Apps that were deployed from it stay as they are.">
        <EditTemplate namespace={namespace} name={name} orgId={search["from"] ?? org.id} />
      </Page>
    );
  }
  const source = SOURCES.find(({ value }) => value === search["from"])?.value ?? "yaml";
  return (
    <Page title="Create template" detail="An app with blanks, which others fill in when they deploy it.">
      <SegmentedControl
        data={[...SOURCES]}
        value={source}
        onChange={(value) => choose({ from: value === "yaml" ? undefined : value })}
        aria-label="Begin with"
        style={{ alignSelf: "flex-start", maxWidth: "100%" }}
      />
      {source === "yaml" ? <YamlSource /> : source === "app" ? <AppSource /> : <ChartSource />}
    </Page>
  );
}
