import type { ChartInspection } from "@binnacle/client";
import { Badge, Code, Grid, Group, Stack, Text, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { stringify } from "yaml";
import { templateAddress } from "../../components/addresses.ts";
import { OperationForm } from "../../components/form.tsx";
import { Section } from "../../components/page.tsx";
import { useOrg } from "../../frame/org.tsx";
import { ChartTree, PromotedList } from "./chart-tree.tsx";
import { type Promoted, parametersOf, previewValues, promotionProblems } from "./chart-values.ts";
import { NEW_PLACE, TemplatePlace, usePlaceBody } from "./template-place.tsx";

interface Chart {
  readonly repo: string;
  readonly inspection: ChartInspection;
}

/** A template of a Helm chart: look at its values, choose those that people are asked for, and create it. */
export function ChartSource() {
  const [chart, setChart] = useState<Chart | null>(null);
  return (
    <Stack>
      <FindChart onFound={setChart} />
      {/* Another chart begins with nothing chosen. */}
      {chart ? <FromChart key={JSON.stringify([chart.repo, chart.inspection.chart_metadata])} chart={chart} /> : null}
    </Stack>
  );
}

function FindChart({ onFound }: { readonly onFound: (chart: Chart | null) => void }) {
  const org = useOrg();
  return (
    <Section title="From a chart">
      <OperationForm
        operation="inspectChart"
        values={{ repo: "", name: "", version: "" }}
        input={({ repo, name, version }) => ({
          repo: repo.trim(),
          name: name.trim(),
          org_id: org.id,
          ...(version ? { version } : {}),
        })}
        hasCommands={false}
        action="Look at its values"
        isReady={({ repo, name }) => repo !== "" && name !== ""}
        onDone={(inspection, { values }) => onFound({ repo: values.repo.trim(), inspection })}
        onFailure={() => onFound(null)}
      >
        {({ field }) => (
          <Group align="flex-start" grow preventGrowOverflow={false}>
            <TextInput
              label="Repository"
              placeholder="https://charts.example.com or oci://registry.example.com/charts"
              miw={260}
              withAsterisk
              {...field("repo")}
            />
            <TextInput label="Chart" withAsterisk {...field("name")} />
            <TextInput label="Version" placeholder="The newest" {...field("version")} />
          </Group>
        )}
      </OperationForm>
    </Section>
  );
}

function FromChart({ chart: { repo, inspection } }: { readonly chart: Chart }) {
  const { name, version, description } = inspection.chart_metadata;
  const org = useOrg();
  const navigate = useNavigate();
  const placeBody = usePlaceBody();
  const [chosen, setChosen] = useState<readonly Promoted[]>([]);
  const problems = promotionProblems(chosen);
  return (
    <Grid>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Section
          title={`Values of ${name}`}
          actions={
            <Badge variant="default" tt="none" radius="sm">
              {version}
            </Badge>
          }
        >
          <Text size="sm" c="dimmed" mb="xs">
            Choose the values that people are asked for. All others keep the chart's defaults.
          </Text>
          <ChartTree inspection={inspection} chosen={chosen} onChange={setChosen} />
        </Section>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Stack>
          <Section title="Parameters">
            <PromotedList chosen={chosen} onChange={setChosen} problems={problems} />
          </Section>
          <OperationForm
            operation="createStackTemplateFromChart"
            values={{ ...NEW_PLACE, name, description: description ?? "" }}
            input={(place) => ({
              body: {
                ...(placeBody(place) ?? { name: place.name, namespace: "…" }),
                repo,
                chart: name,
                chart_version: version,
                ...(chosen.length > 0 ? { parameters: parametersOf(chosen) } : {}),
              },
            })}
            action="Create template"
            isReady={(place) => placeBody(place) !== null && Object.keys(problems).length === 0}
            onDone={(made) => void navigate({ to: templateAddress(org.slug, made.namespace, made.name) })}
          >
            {(fields) => (
              <>
                <Section title="Template">
                  <TemplatePlace {...fields} />
                </Section>
                <Section title="Preview">
                  <Code block>{stringify({ chart: `${repo}/${name}`, version, values: previewValues(chosen) })}</Code>
                </Section>
              </>
            )}
          </OperationForm>
        </Stack>
      </Grid.Col>
    </Grid>
  );
}
