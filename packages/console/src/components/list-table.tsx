import type { Input, ItemOf, ListName } from "@binnacle/client";
import { VisuallyHidden } from "@mantine/core";
import { useLocalStorage, useMediaQuery } from "@mantine/hooks";
import { IconBaselineDensityMedium, IconChevronDown, IconChevronUp } from "@tabler/icons-react";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import {
  type ComponentType,
  memo,
  type ReactNode,
  useCallback,
  useDeferredValue,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { type RowTable, useRows } from "../api/queries.runner.ts";
import { useRowLinks } from "./links.tsx";
import classes from "./list-table.module.css";
import { FailurePanel } from "./loaded.tsx";
import { Moment } from "./moment.tsx";

/** All rows are drawn again when the columns are others, so pages with long lists keep theirs between renders. */
export interface Column<T> {
  /** No other column of the table has the same. */
  readonly title: string;
  /** Whether the title is for screen readers alone. */
  readonly isTitleHidden?: boolean;
  /** A track of a CSS grid; one of several of the same width where it is left out. */
  readonly width?: string;
  /** The server's name of the order by this column. */
  readonly sort?: string;
  /** Left out on windows that are narrower. */
  readonly from?: "tablet" | "desktop";
  readonly render: (row: T) => ReactNode;
}

interface Selection<T> {
  readonly selected: ReadonlyMap<string, T>;
  /** Stays the same function, as the columns do. */
  readonly toggle: (row: T) => void;
}

interface Props<N extends ListName> {
  readonly label: string;
  readonly operation: N;
  /** Without the page, which follows what is in view. */
  readonly input: Input<N>;
  readonly columns: readonly Column<ItemOf<N>>[];
  readonly empty: ReactNode;
  readonly sort?: string | undefined;
  readonly onSort?: (sort: string) => void;
  /** Rows can be selected where this is given. */
  readonly selection?: Selection<ItemOf<N>>;
}

/** The longest status fits on one line, and on two in a narrow window. */
export const STATUS_WIDTH = "min(178px, 38vw)";

const ROW_HEIGHT = { comfortable: 40, compact: 32 } as const;
const DENSITY = {
  key: "binnacle-rows",
  defaultValue: "comfortable" as keyof typeof ROW_HEIGHT,
  getInitialValueInEffect: false,
};
const PENDING_ROWS = 8;
/** Rows beyond each edge of the window, so that there is something to see while scrolling. */
const ROWS_BEYOND = 3;
const idOf = (row: unknown) => (row as { id: string }).id;

/**
 * A list of any length over the pages of an operation. The scrollbar has the true length; only rows in view are drawn, and only
 * their pages are read. The server sorts and filters.
 */
export function ListTable<N extends ListName>(props: Props<N>) {
  type T = ItemOf<N>;
  const { operation, input, selection, sort, onSort } = props;
  const isTablet = useMediaQuery("(min-width: 48em)", undefined, { getInitialValueInEffect: false });
  const isDesktop = useMediaQuery("(min-width: 75em)", undefined, { getInitialValueInEffect: false });
  const columns = useMemo(
    () => props.columns.filter(({ from }) => (from === "desktop" ? isDesktop : from === "tablet" ? isTablet : true)),
    [props.columns, isTablet, isDesktop],
  );
  const tracks = [...(selection ? ["28px"] : []), ...columns.map(({ width }) => width ?? "minmax(100px, 1fr)")].join(
    " ",
  );

  const [range, setRange] = useState<Range>({ first: 0, last: 0 });
  const onRange = useCallback(
    (next: Range) => setRange((before) => (before.first === next.first && before.last === next.last ? before : next)),
    [],
  );
  const { table: read, error, isRepeated, refetch } = useRows(operation, input, range.first, range.last);
  // Rows that have come are drawn in steps between which the page answers to the keyboard and the mouse.
  const table = useDeferredValue(read);
  const { total, isCapped } = table;
  const [density, setDensity] = useLocalStorage(DENSITY);
  const rowHeight = ROW_HEIGHT[density] ?? ROW_HEIGHT.comfortable;
  const Body = MemoizedBody as ComponentType<BodyProps<T>>;

  if (error && read.total === null) return <FailurePanel error={error} onRetry={refetch} isRepeated={isRepeated} />;
  return (
    <div>
      {/* Above the rows: under thousands of them nobody would see it, and it would move when they come. */}
      <div className={classes.top}>
        <p className={classes.count} role="status">
          {total === null ? "Loading" : countText(total, isCapped)}
        </p>
        <CompactSwitch
          isCompact={density === "compact"}
          onChange={(isCompact) => setDensity(isCompact ? "compact" : "comfortable")}
        />
      </div>
      <div className={classes.table}>
        {total === 0 ? (
          props.empty
        ) : (
          <div
            role="table"
            aria-label={props.label}
            aria-rowcount={(total ?? 0) + 1}
            aria-busy={total === null || table !== read}
          >
            <div className={classes.header} role="row" style={{ gridTemplateColumns: tracks }} aria-rowindex={1}>
              {selection ? (
                <span role="columnheader">
                  <VisuallyHidden>Selected</VisuallyHidden>
                </span>
              ) : null}
              {columns.map((column) => (
                <HeaderCell key={column.title} column={column} sort={sort} onSort={onSort} />
              ))}
            </div>
            <Body
              // The places of the rows that were drawn are of the other height.
              key={rowHeight}
              rowHeight={rowHeight}
              table={table}
              columns={columns}
              tracks={tracks}
              selected={selection?.selected}
              toggle={selection?.toggle}
              onRange={onRange}
            />
          </div>
        )}
      </div>
    </div>
  );
}

interface Range {
  readonly first: number;
  readonly last: number;
}

/** How high the rows are, in all lists of this browser. */
function CompactSwitch({ isCompact, onChange }: { readonly isCompact: boolean; onChange(isCompact: boolean): void }) {
  return (
    <button
      type="button"
      className={classes.density}
      aria-pressed={isCompact}
      onClick={() => onChange(!isCompact)}
      title={isCompact ? "Higher rows" : "Lower rows, so that more of them fit"}
    >
      <IconBaselineDensityMedium size={14} aria-hidden />
      Compact
    </button>
  );
}

interface BodyProps<T> {
  readonly rowHeight: number;
  readonly table: RowTable<T>;
  readonly columns: readonly Column<T>[];
  readonly tracks: string;
  readonly selected: ReadonlyMap<string, T> | undefined;
  readonly toggle: ((row: T) => void) | undefined;
  readonly onRange: (range: Range) => void;
}

const MemoizedBody = memo(Body);

function Body<T>({ rowHeight, table, columns, tracks, selected, toggle, onRange }: BodyProps<T>) {
  const { total, rowAt } = table;
  const links = useRowLinks();
  const body = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    if (body.current) setTop(body.current.getBoundingClientRect().top + window.scrollY);
  }, []);
  const virtual = useWindowVirtualizer({
    count: total ?? 0,
    estimateSize: () => rowHeight,
    overscan: ROWS_BEYOND,
    scrollMargin: top,
    onChange({ range }) {
      if (range) onRange({ first: range.startIndex, last: range.endIndex });
    },
  });
  const Row = MemoizedRow as ComponentType<RowProps<T>>;
  return (
    <div
      ref={body}
      className={classes.body}
      role="rowgroup"
      style={{ height: total === null ? rowHeight * PENDING_ROWS : virtual.getTotalSize() }}
      {...links}
    >
      {total === null
        ? Array.from({ length: PENDING_ROWS }, (_, index) => (
            <Row
              key={index}
              row={undefined}
              index={index}
              top={index * rowHeight}
              height={rowHeight}
              columns={columns}
              tracks={tracks}
              toggle={toggle}
            />
          ))
        : virtual.getVirtualItems().map(({ index, start }) => {
            const row = rowAt(index);
            return (
              <Row
                key={index}
                row={row}
                index={index}
                top={start - top}
                height={rowHeight}
                columns={columns}
                tracks={tracks}
                isSelected={row !== undefined && selected?.has(idOf(row))}
                toggle={toggle}
              />
            );
          })}
    </div>
  );
}

interface RowProps<T> {
  /** Undefined while it is being read. */
  readonly row: T | undefined;
  readonly index: number;
  readonly top: number;
  readonly height: number;
  readonly columns: readonly Column<T>[];
  readonly tracks: string;
  readonly isSelected?: boolean | undefined;
  readonly toggle?: ((row: T) => void) | undefined;
}

const MemoizedRow = memo(Row);

/** A row is plain elements: components with a style of their own would take most of the time that a list takes to be drawn. */
function Row<T>({ row, index, top, height, columns, tracks, isSelected = false, toggle }: RowProps<T>) {
  return (
    <div
      className={classes.row}
      role="row"
      aria-rowindex={index + 2}
      data-selected={isSelected || undefined}
      style={{ gridTemplateColumns: tracks, height, transform: `translateY(${top}px)` }}
    >
      {toggle ? (
        <span role="cell" className={classes.above}>
          {row === undefined ? null : (
            <input
              type="checkbox"
              className={classes.check}
              checked={isSelected}
              onChange={() => toggle(row)}
              aria-label="Select the row"
            />
          )}
        </span>
      ) : null}
      {columns.map((column) => (
        <div key={column.title} role="cell" className={classes.cell}>
          {row === undefined ? <div className={classes.bar} /> : column.render(row)}
        </div>
      ))}
    </div>
  );
}

/** The quieter text of a cell. */
export const Dimmed = ({ children }: { readonly children: ReactNode }) => (
  <span className={classes.dimmed}>{children}</span>
);

function HeaderCell<T>(props: {
  column: Column<T>;
  sort: string | undefined;
  onSort: ((sort: string) => void) | undefined;
}) {
  const { column, sort, onSort } = props;
  const isAscending = sort !== undefined && sort === column.sort;
  const isDescending = sort !== undefined && sort === `-${column.sort}`;
  const order = isAscending ? "ascending" : isDescending ? "descending" : undefined;
  const by = column.sort;
  return (
    <div role="columnheader" className={classes.headerCell} aria-sort={order ?? "none"}>
      {by === undefined || !onSort ? (
        titleOf(column)
      ) : (
        <button type="button" className={classes.sort} onClick={() => onSort(isAscending ? `-${by}` : by)}>
          {column.title}
          {isAscending ? <IconChevronUp size={12} aria-hidden /> : null}
          {isDescending ? <IconChevronDown size={12} aria-hidden /> : null}
        </button>
      )}
    </div>
  );
}

export const titleOf = <T,>({ title, isTitleHidden }: Column<T>): ReactNode =>
  isTitleHidden ? <VisuallyHidden>{title}</VisuallyHidden> : title;

/** A column that says when something was. */
export const timeColumn = <K extends string>(
  title: string,
  key: K,
  from?: "tablet" | "desktop",
): Column<Readonly<Record<K, string | null>>> => ({
  title,
  width: "110px",
  ...(from && { from }),
  render: ({ [key]: at }) => (at === null ? "—" : <Moment at={at} />),
});

const countText = (total: number, isCapped: boolean) =>
  isCapped ? `The first ${total.toLocaleString()} of more` : `${total.toLocaleString()} in all`;
