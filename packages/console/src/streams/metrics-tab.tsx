import type { App, Metrics } from "@binnacle/client";
import { Card, SegmentedControl, SimpleGrid, Stack } from "@mantine/core";
import { useRead } from "../api/queries.runner.ts";
import { Loaded } from "../components/loaded.tsx";
import { EmptyState } from "../components/page.tsx";
import { TimeChart } from "../components/time-chart.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { chartsOf } from "./metric-charts.ts";

const RANGES = ["15m", "1h", "6h", "24h", "7d"] as const;
type Range = (typeof RANGES)[number];
const isRange = (text: string | undefined): text is Range => RANGES.includes(text as Range);

/** The usage of an app's components over a range of time. */
export function MetricsTab({ app }: { readonly app: App }) {
  const [search, choose] = usePageSearch();
  const range: Range = isRange(search["range"]) ? search["range"] : "1h";
  const { namespace, name, project_id } = app;
  const metrics = useRead("getAppMetrics", { namespace, name, project_id, range }, { refetchMs: 30_000 });
  return (
    <Stack>
      <SegmentedControl
        aria-label="Range of time"
        data={[...RANGES]}
        value={range}
        onChange={(value) => choose({ range: value })}
        style={{ alignSelf: "flex-start" }}
      />
      <Loaded of={metrics}>{(data) => <Charts metrics={data} />}</Loaded>
    </Stack>
  );
}

function Charts({ metrics }: { readonly metrics: Metrics }) {
  const charts = chartsOf(metrics);
  if (charts.length === 0) {
    return (
      <EmptyState title="No usage was measured in this time">
        It comes from the Prometheus or the metrics server of the cluster, once a minute. A cluster with neither
        measures none.
      </EmptyState>
    );
  }
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      {charts.map((chart) => (
        <Card key={chart.title} padding="md">
          <TimeChart {...chart} />
        </Card>
      ))}
    </SimpleGrid>
  );
}
