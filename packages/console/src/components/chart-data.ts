/** One line of a chart. A null value is a gap: nothing was measured then. */
export interface ChartSeries {
  readonly label: string;
  readonly points: readonly (readonly [seconds: number, value: number | null])[];
}

/** The times of all series together, and for each series its values at these times. */
export interface ChartTable {
  readonly times: readonly number[];
  readonly values: readonly (readonly (number | null)[])[];
}

/**
 * Puts series that were measured at different times on one time axis. Where two points of a series are much farther from each other
 * than its closest ones, nothing was measured, and the line is broken there.
 */
export function alignSeries(series: readonly ChartSeries[]): ChartTable {
  const known = new Set(series.flatMap(({ points }) => points.map(([at]) => at)));
  for (const { points } of series) for (const at of gapsOf(points)) known.add(at);
  const times = [...known].sort((a, b) => a - b);
  const values = series.map(({ points }) => {
    const byTime = new Map(points);
    const gaps = new Set(gapsOf(points));
    // A time at which only another series was measured does not break this line; `undefined` tells the chart so.
    return times.map((at) => (gaps.has(at) ? null : (byTime.get(at) ?? (byTime.has(at) ? null : undefined)))) as (
      | number
      | null
    )[];
  });
  return { times, values };
}

/** A shorter axis would have marks at seconds, and one for a single point none at all. */
const SHORTEST_SECONDS = 600;

/** The first and the last time of the axis, which ends with the newest point. */
export function spanOf(times: readonly number[]): readonly [from: number, to: number] {
  const last = times.at(-1) ?? 0;
  return [Math.min(times[0] ?? 0, last - SHORTEST_SECONDS), last];
}

function gapsOf(points: ChartSeries["points"]): number[] {
  const distances = points.slice(1).map(([at], index) => at - (points[index]?.[0] ?? at));
  const step = Math.min(...distances.filter((distance) => distance > 0));
  return points.slice(1).flatMap(([at], index) => {
    const before = points[index]?.[0] ?? at;
    return at - before > step * 2.5 ? [before + step] : [];
  });
}

const BYTES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

const rounded = (value: number): string =>
  value.toLocaleString("en", { maximumFractionDigits: Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2 });

/** A measured value in words, such as "1.5 GiB", "250 m cores" or "12 %". */
export function quantityText(value: number | null, unit: string): string {
  if (value === null || !Number.isFinite(value)) return "—";
  if (unit === "bytes") {
    const power = value === 0 ? 0 : Math.floor(Math.log2(Math.abs(value)) / 10);
    const index = Math.min(BYTES.length - 1, Math.max(0, power));
    return `${rounded(value / 1024 ** index)} ${BYTES[index]}`;
  }
  // The unit of Kubernetes for parts of a core.
  if (unit === "cores" && value !== 0 && Math.abs(value) < 0.1) return `${rounded(value * 1000)} m cores`;
  return `${rounded(value)} ${unit === "percent" ? "%" : unit}`.trim();
}

export const newestValue = ({ points }: ChartSeries): number | null => points.at(-1)?.[1] ?? null;

/** What a chart shows, for people who cannot see it. */
export function chartSummary(title: string, unit: string, series: readonly ChartSeries[]): string {
  const lines = series.map((each) => {
    const values = each.points.flatMap(([, value]) => (value === null ? [] : [value]));
    if (values.length === 0) return `${each.label}: nothing was measured`;
    const least = quantityText(Math.min(...values), unit);
    const most = quantityText(Math.max(...values), unit);
    const now = newestValue(each);
    const last = now === null ? "not measured lately" : `now ${quantityText(now, unit)}`;
    return least === most ? `${each.label}: ${last}, constant` : `${each.label}: ${last}, between ${least} and ${most}`;
  });
  return lines.length === 0 ? `${title}: nothing was measured.` : `${title}. ${lines.join("; ")}.`;
}
