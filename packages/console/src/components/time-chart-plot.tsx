import { useEffect, useRef } from "react";
import UPlot, { type AlignedData, type Options } from "uplot";
import "uplot/dist/uPlot.min.css";
import { type ChartTable, quantityText, spanOf } from "./chart-data.ts";

interface Props {
  readonly table: ChartTable;
  readonly unit: string;
  readonly height: number;
  readonly lines: readonly { readonly color: string; readonly dash: readonly number[] }[];
  /** Called with the index of the time under the pointer; null when it has left. */
  readonly onPoint: (index: number | null) => void;
}

const dataOf = ({ times, values }: ChartTable): AlignedData => [times, ...values] as unknown as AlignedData;

const POWERS_OF_TWO = Array.from({ length: 50 }, (_, power) => 2 ** power);

const DAY_SECONDS = 86_400;
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const DATE = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });

/** Marks that are days apart are dates, others are times of the day. */
const timeLabel = (at: number, [first = at, second = at]: readonly number[]): string =>
  (second - first >= DAY_SECONDS / 2 ? DATE : CLOCK).format(at * 1_000);

/** The drawn part of a chart. It is a module of its own, so that its library is loaded only where charts are shown. */
export default function TimeChartPlot({ table, unit, height, lines, onPoint }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | null>(null);
  const latest = useRef({ table, onPoint });
  latest.current = { table, onPoint };

  // biome-ignore lint/correctness/useExhaustiveDependencies: a chart with other lines or another theme gets another key.
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const style = getComputedStyle(element);
    const stroke = style.getPropertyValue("--mantine-color-dimmed").trim();
    const grid = { stroke: style.getPropertyValue("--mantine-color-default-border").trim(), width: 1 };
    const axis = { stroke, grid, ticks: { show: false }, font: `11px ${style.fontFamily}` };
    const options: Options = {
      width: element.clientWidth,
      height,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      scales: {
        // Of a single point the library would make years.
        x: { range: () => [...spanOf(latest.current.table.times)] },
        y: { range: (_, least, most) => [Math.min(0, least), most > 0 ? most * 1.1 : 1] },
      },
      axes: [
        { ...axis, space: 80, size: 28, values: (_, splits) => splits.map((at) => timeLabel(at, splits)) },
        // Bytes are counted in powers of two, and marks at powers of ten would read as odd numbers.
        {
          ...axis,
          size: 76,
          ...(unit === "bytes" ? { incrs: POWERS_OF_TWO } : {}),
          values: (_, splits) => splits.map((value) => quantityText(value, unit)),
        },
      ],
      series: [
        {},
        ...lines.map(({ color, dash }, index) => ({
          stroke: color,
          width: 2,
          dash: [...dash],
          // A line needs two points.
          points: { show: latest.current.table.times.length === 1 },
          // The area under the first line makes it stand out against limits and capacities.
          ...(index === 0 ? { fill: `${color}22` } : {}),
        })),
      ],
      hooks: {
        setCursor: [({ cursor }) => latest.current.onPoint(cursor.idx ?? null)],
      },
    };
    const chart = new UPlot(options, dataOf(latest.current.table), element);
    plot.current = chart;
    const resizing = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    resizing.observe(element);
    return () => {
      resizing.disconnect();
      chart.destroy();
      plot.current = null;
    };
  }, []);

  useEffect(() => plot.current?.setData(dataOf(table)), [table]);

  return <div ref={place} style={{ height, overflow: "hidden" }} aria-hidden />;
}
