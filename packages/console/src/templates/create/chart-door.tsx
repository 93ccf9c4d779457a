import type { ChartInspection } from "@binnacle/client";
import { Badge, Button, Code, Grid, Group, Stack, Text, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { stringify } from "yaml";
import { failureView } from "../../api/failure.ts";
import { useChange } from "../../api/queries.runner.ts";
import { client } from "../../api/session.adapter.ts";
import { useOrg } from "../../frame/org.tsx";
import { SameByCommand } from "../../parts/action-dialog.tsx";
import { templateAddress } from "../../parts/addresses.ts";
import { FailurePanel } from "../../parts/loaded.tsx";
import { Section } from "../../parts/page.tsx";
import { ChartTree, PromotedList } from "./chart-tree.tsx";
import { type Promoted, parametersOf, previewValues, promotionProblems } from "./chart-values.ts";
import { NEW_PLACE, TemplatePlace, usePlaceBody } from "./template-place.tsx";

interface Chart {
  readonly repo: string;
  readonly inspection: ChartInspection;
}

/** A template of a Helm chart: look at its values, choose those that people are asked for, and create it. */
export function ChartDoor() {
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
  const [repo, setRepo] = useState("");
  const [name, setName] = useState("");
  const [version, setVersion] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [isPending, setPending] = useState(false);
  const problems = error ? failureView(error).fields : {};

  async function inspect(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (isPending) return;
    setPending(true);
    setError(null);
    onFound(null);
    try {
      const input = { repo: repo.trim(), name: name.trim(), org_id: org.id, ...(version ? { version } : {}) };
      onFound({ repo: repo.trim(), inspection: await client.call("inspectChart", input) });
    } catch (failure) {
      setError(failure);
    } finally {
      setPending(false);
    }
  }

  return (
    <Section title="From a chart">
      <form onSubmit={(event) => void inspect(event)}>
        <Stack gap="sm">
          <Group align="flex-start" grow preventGrowOverflow={false}>
            <TextInput
              label="Repository"
              placeholder="https://charts.example.com or oci://registry.example.com/charts"
              value={repo}
              onChange={(event) => setRepo(event.currentTarget.value)}
              error={problems["repo"]}
              autoComplete="off"
              miw={260}
              withAsterisk
            />
            <TextInput
              label="Chart"
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              error={problems["name"]}
              autoComplete="off"
              withAsterisk
            />
            <TextInput
              label="Version"
              placeholder="The newest"
              value={version}
              onChange={(event) => setVersion(event.currentTarget.value)}
              error={problems["version"]}
              autoComplete="off"
            />
          </Group>
          {error ? <FailurePanel error={error} /> : null}
          <Group justify="flex-end">
            <Button type="submit" variant="default" disabled={!repo || !name} loading={isPending}>
              Look at its values
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

function FromChart({ chart }: { readonly chart: Chart }) {
  const { repo, inspection } = chart;
  const { name, version, description } = inspection.chart_metadata;
  const org = useOrg();
  const navigate = useNavigate();
  const change = useChange("createStackTemplateFromChart");
  const [chosen, setChosen] = useState<readonly Promoted[]>([]);
  const [place, setPlace] = useState({ ...NEW_PLACE, name, description: description ?? "" });
  const placeBody = usePlaceBody(place);
  const problems = change.error ? failureView(change.error).fields : {};
  const promotionIssues = promotionProblems(chosen);
  const body = {
    ...(placeBody ?? { name: place.name, namespace: "…" }),
    repo,
    chart: name,
    chart_version: version,
    ...(chosen.length > 0 ? { parameters: parametersOf(chosen) } : {}),
  };
  const isReady = placeBody !== null && Object.keys(promotionIssues).length === 0;

  async function create(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (!isReady || change.isPending) return;
    try {
      const made = await change.mutateAsync({ body });
      await navigate({ to: templateAddress(org.slug, made.namespace, made.name) });
    } catch {
      // The error is on screen.
    }
  }

  return (
    <form onSubmit={(event) => void create(event)}>
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
              <PromotedList chosen={chosen} onChange={setChosen} problems={promotionIssues} />
            </Section>
            <Section title="Template">
              <TemplatePlace place={place} onChange={setPlace} problems={problems} />
            </Section>
            <Section title="Preview">
              <Code block>{stringify({ chart: `${repo}/${name}`, version, values: previewValues(chosen) })}</Code>
            </Section>
            {change.error ? <FailurePanel error={change.error} /> : null}
            <SameByCommand
              operation="createStackTemplateFromChart"
              input={{ body }}
              command="binnacle templates from-chart -f chart-template.yaml"
            />
            <Group justify="flex-end">
              <Button type="submit" disabled={!isReady} loading={change.isPending}>
                Create template
              </Button>
            </Group>
          </Stack>
        </Grid.Col>
      </Grid>
    </form>
  );
}
