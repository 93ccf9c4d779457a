import type { Metrics } from "@binnacle/contract";

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Converts a range that the contract's `RangeQuery` accepts. */
export const rangeSeconds = (range: string) => Number(range.slice(0, -1)) * (UNIT_SECONDS[range.slice(-1)] ?? 0);

interface Amounts {
  readonly cpu_cores: number;
  readonly memory_bytes: number;
}

/** One stored sample of a cluster, reduced to the request. */
export interface StoredSample {
  readonly at: Date;
  readonly used: Amounts | null;
  readonly capacity: Amounts;
  /** The components of the requested app. */
  readonly components: readonly (Amounts & { readonly component: string })[];
}

type Series = Metrics["series"][number];
type Point = Series["points"][number];

const MEASURES = [
  { what: "cpu", unit: "cores", of: ({ cpu_cores }: Amounts) => cpu_cores },
  { what: "memory", unit: "bytes", of: ({ memory_bytes }: Amounts) => memory_bytes },
] as const;

/** At most one sample is stored per minute, with the start of that minute as its time. */
const STEP = "60s";
const STEP_MS = 60_000;

/** The range includes the minute in which it begins, because a sample has the start of its minute as its time. */
export const startOfRange = (now: Date, rangeSeconds: number): Date =>
  new Date(Math.floor((now.getTime() - rangeSeconds * 1000) / STEP_MS) * STEP_MS);

/** Builds the series of a cluster, or of an app with its components and the capacity of the cluster. */
export function sampleSeries(samples: readonly StoredSample[], app: string | null): Omit<Metrics, "range"> {
  const shown = app === null ? clusterSeries(samples) : [...appSeries(samples, app), ...capacitySeries(samples)];
  return { step: STEP, series: shown.filter(({ points }) => points.length > 0) };
}

const clusterSeries = (samples: readonly StoredSample[]): Series[] => [
  ...series(samples, "used", {}, ({ used }) => used),
  ...capacitySeries(samples),
];

const capacitySeries = (samples: readonly StoredSample[]) =>
  series(samples, "capacity", {}, ({ capacity }) => capacity);

function appSeries(samples: readonly StoredSample[], app: string): Series[] {
  const components = [...new Set(samples.flatMap((sample) => sample.components.map(({ component }) => component)))];
  return [
    ...series(samples, "used", { app }, ({ components: all }) => sum(all)),
    ...components
      .sort()
      .flatMap((name) =>
        series(samples, "used", { app, component: name }, ({ components: all }) =>
          sum(all.filter(({ component }) => component === name)),
        ),
      ),
  ];
}

function sum(all: readonly Amounts[]): Amounts | null {
  if (all.length === 0) return null;
  return all.reduce((total, next) => ({
    cpu_cores: total.cpu_cores + next.cpu_cores,
    memory_bytes: total.memory_bytes + next.memory_bytes,
  }));
}

function series(
  samples: readonly StoredSample[],
  suffix: "used" | "capacity",
  labels: Record<string, string>,
  amountsOf: (sample: StoredSample) => Amounts | null,
): Series[] {
  return MEASURES.map(({ what, unit, of }) => ({
    name: `${what}_${suffix}`,
    unit,
    labels,
    points: samples.flatMap((sample): Point[] => {
      const amounts = amountsOf(sample);
      return amounts ? [[sample.at.getTime() / 1000, of(amounts)]] : [];
    }),
  }));
}
