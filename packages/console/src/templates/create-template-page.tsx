import { SegmentedControl } from "@mantine/core";
import { lazy, Suspense } from "react";
import { useOrg } from "../frame/org.tsx";
import { LoadingLines } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { usePageSearch } from "../parts/use-search.tsx";
import { AppDoor } from "./create/app-door.tsx";
import { YamlDoor } from "./create/yaml-door.tsx";

const ChartDoor = lazy(async () => ({ default: (await import("./create/chart-door.tsx")).ChartDoor }));
const EditTemplate = lazy(async () => ({ default: (await import("./create/edit-template.tsx")).EditTemplate }));

const DOORS = [
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
        <Suspense fallback={<LoadingLines lines={6} />}>
          <EditTemplate namespace={namespace} name={name} orgId={search["from"] ?? org.id} />
        </Suspense>
      </Page>
    );
  }
  const door = DOORS.find(({ value }) => value === search["door"])?.value ?? "yaml";
  return (
    <Page title="Create template" detail="An app with blanks, which others fill in when they deploy it.">
      <SegmentedControl
        data={[...DOORS]}
        value={door}
        onChange={(value) => choose({ door: value === "yaml" ? undefined : value })}
        aria-label="Begin with"
        style={{ alignSelf: "flex-start", maxWidth: "100%" }}
      />
      <Suspense fallback={<LoadingLines lines={6} />}>
        {door === "yaml" ? <YamlDoor /> : door === "app" ? <AppDoor /> : <ChartDoor />}
      </Suspense>
    </Page>
  );
}
