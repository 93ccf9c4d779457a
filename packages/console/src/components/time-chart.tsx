import { Box, Group, Skeleton, Stack, Text, Title, useComputedColorScheme } from "@mantine/core";
import { lazy, Suspense, useMemo, useState } from "react";
import { alignSeries, type ChartSeries, chartSummary, newestValue, quantityText } from "./chart-data.ts";
import { absoluteTime } from "./moment.tsx";

const TimeChartPlot = lazy(() => import("./time-chart-plot.tsx"));

interface Props {
  readonly title: string;
  /** `cores`, `bytes`, `percent`, or any word that stands after a number. */
  readonly unit: string;
  readonly series: readonly ChartSeries[];
  readonly height?: number;
}

/** Distinct in both themes, and by their dashes for people who do not tell the colours apart. */
const LINES = {
  light: ["#2e52ca", "#a8480b", "#0b7a75", "#8a3ab9", "#6b6f00", "#b3264f", "#33647f", "#5a4a42"],
  dark: ["#8ab0ff", "#ffab70", "#5fd6cf", "#d7a3f5", "#d9dd62", "#ff94b4", "#9fd0ec", "#d9c3b5"],
} as const;
const DASHES: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [10, 4, 2, 4]];

/** How a series is drawn, by its place in the list. */
const lineOf = (index: number, scheme: "light" | "dark") => ({
  color: LINES[scheme][index % LINES[scheme].length] ?? "#888888",
  dash: DASHES[index % DASHES.length] ?? [],
});

/** Series over time. The library that draws them is loaded when the first chart is shown. */
export function TimeChart({ title, unit, series, height = 180 }: Props) {
  const scheme = useComputedColorScheme("light");
  const table = useMemo(() => alignSeries(series), [series]);
  const [pointed, setPointed] = useState<number | null>(null);
  const isEmpty = table.times.length === 0;
  const at = pointed === null ? undefined : table.times[pointed];
  return (
    <Stack gap={6} component="figure" m={0} aria-label={chartSummary(title, unit, series)}>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Title order={3} size="h5">
          {title}
        </Title>
        <Text size="xs" c="dimmed" truncate aria-hidden>
          {at === undefined ? "" : absoluteTime(new Date(at * 1_000).toISOString())}
        </Text>
      </Group>
      {isEmpty ? (
        <Box h={height} style={{ display: "grid", placeItems: "center" }}>
          <Text size="sm" c="dimmed">
            Nothing was measured in this time.
          </Text>
        </Box>
      ) : (
        <Suspense fallback={<Skeleton height={height} />}>
          <TimeChartPlot
            // The library keeps the colours that it was made with.
            key={`${scheme} ${series.map(({ label }) => label).join("\n")}`}
            table={table}
            unit={unit}
            height={height}
            lines={series.map((_, index) => lineOf(index, scheme))}
            onPoint={setPointed}
          />
        </Suspense>
      )}
      <Group gap="2px 16px" aria-hidden>
        {series.map((each, index) => {
          const value = pointed === null ? newestValue(each) : table.values[index]?.[pointed];
          return (
            <Group key={each.label} gap={6} wrap="nowrap" miw={0}>
              <LineSample {...lineOf(index, scheme)} />
              <Text size="xs" c="dimmed" truncate maw={220}>
                {each.label}
              </Text>
              <Text size="xs" fw={600} style={{ fontVariantNumeric: "tabular-nums", whiteSpace: "nowrap" }}>
                {quantityText(value ?? null, unit)}
              </Text>
            </Group>
          );
        })}
      </Group>
    </Stack>
  );
}

function LineSample({ color, dash }: { readonly color: string; readonly dash: readonly number[] }) {
  return (
    <svg width={20} height={8} aria-hidden style={{ flexShrink: 0 }}>
      <line x1={0} x2={20} y1={4} y2={4} stroke={color} strokeWidth={2} strokeDasharray={dash.join(" ")} />
    </svg>
  );
}
