import type { Input, ItemOf, ListName } from "@binnacle/client";
import { Checkbox, Group, Skeleton, Text, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconChevronDown, IconChevronUp } from "@tabler/icons-react";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { useRows } from "../api/queries.runner.ts";
import classes from "./list-table.module.css";
import { FailurePanel } from "./loaded.tsx";

export interface Column<T> {
  readonly key: string;
  readonly title: string;
  /** A track of a CSS grid. */
  readonly width: string;
  /** The server's name of the order by this column. */
  readonly sort?: string;
  /** Left out on windows that are narrower. */
  readonly from?: "tablet" | "desktop";
  readonly render: (row: T) => ReactNode;
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
  readonly selection?: {
    readonly selected: ReadonlyMap<string, ItemOf<N>>;
    readonly toggle: (row: ItemOf<N>) => void;
  };
}

const ROW_HEIGHT = 52;
const idOf = (row: unknown) => (row as { id: string }).id;

/**
 * A list of any length over the pages of an operation. The scrollbar has the true length; only rows in view are drawn, and only
 * their pages are read. The server sorts and filters.
 */
export function ListTable<N extends ListName>(props: Props<N>) {
  const { operation, input, selection, sort, onSort } = props;
  const isTablet = useMediaQuery("(min-width: 48em)", undefined, { getInitialValueInEffect: false });
  const isDesktop = useMediaQuery("(min-width: 75em)", undefined, { getInitialValueInEffect: false });
  const columns = props.columns.filter(({ from }) =>
    from === "desktop" ? isDesktop : from === "tablet" ? isTablet : true,
  );
  const tracks = [...(selection ? ["28px"] : []), ...columns.map(({ width }) => width)].join(" ");

  const [range, setRange] = useState({ first: 0, last: 0 });
  const rows = useRows(operation, input, range.first, range.last);
  const body = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    if (body.current) setTop(body.current.getBoundingClientRect().top + window.scrollY);
  }, []);
  const virtual = useWindowVirtualizer({
    count: rows.total ?? 0,
    estimateSize: () => ROW_HEIGHT,
    overscan: 10,
    scrollMargin: top,
    onChange({ range: seen }) {
      if (seen && (seen.startIndex !== range.first || seen.endIndex !== range.last)) {
        setRange({ first: seen.startIndex, last: seen.endIndex });
      }
    },
  });

  if (rows.error && rows.total === null) return <FailurePanel error={rows.error} onRetry={rows.refetch} />;
  if (rows.total === 0) return <div className={classes.table}>{props.empty}</div>;
  return (
    <div className={classes.table}>
      <div role="table" aria-label={props.label} aria-rowcount={(rows.total ?? 0) + 1}>
        <div className={classes.header} role="row" style={{ gridTemplateColumns: tracks }} aria-rowindex={1}>
          {selection ? (
            <span role="columnheader">
              <VisuallyHidden>Selected</VisuallyHidden>
            </span>
          ) : null}
          {columns.map((column) => (
            <HeaderCell key={column.key} column={column} sort={sort} onSort={onSort} />
          ))}
        </div>
        <div
          ref={body}
          className={classes.body}
          role="rowgroup"
          style={{ height: rows.total === null ? ROW_HEIGHT * 8 : virtual.getTotalSize() }}
        >
          {rows.total === null ? <PendingRows tracks={tracks} columns={columns.length} /> : null}
          {virtual.getVirtualItems().map(({ index, start, size }) => {
            const row = rows.rowAt(index);
            const isSelected = row !== undefined && selection?.selected.has(idOf(row));
            return (
              <div
                key={index}
                className={classes.row}
                role="row"
                aria-rowindex={index + 2}
                data-selected={isSelected || undefined}
                style={{ gridTemplateColumns: tracks, height: size, transform: `translateY(${start - top}px)` }}
              >
                {selection ? (
                  <span role="cell" className={classes.above}>
                    {row ? (
                      <Checkbox
                        size="xs"
                        checked={isSelected ?? false}
                        onChange={() => selection.toggle(row)}
                        aria-label="Select the row"
                      />
                    ) : null}
                  </span>
                ) : null}
                {columns.map((column) => (
                  <div key={column.key} role="cell" className={classes.cell}>
                    {row === undefined ? <Skeleton height={14} width="70%" /> : column.render(row)}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
      <Text size="xs" c="dimmed" px="md" py={6} role="status">
        {rows.total === null ? "Loading" : `${rows.total.toLocaleString()} in all`}
      </Text>
    </div>
  );
}

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
        column.title
      ) : (
        <UnstyledButton fz="inherit" fw="inherit" c="inherit" onClick={() => onSort(isAscending ? `-${by}` : by)}>
          <Group gap={4} wrap="nowrap">
            {column.title}
            {isAscending ? <IconChevronUp size={12} aria-hidden /> : null}
            {isDescending ? <IconChevronDown size={12} aria-hidden /> : null}
          </Group>
        </UnstyledButton>
      )}
    </div>
  );
}

function PendingRows({ tracks, columns }: { readonly tracks: string; readonly columns: number }) {
  return Array.from({ length: 8 }, (_, index) => (
    <div
      key={index}
      className={classes.row}
      role="row"
      style={{ gridTemplateColumns: tracks, height: ROW_HEIGHT, transform: `translateY(${index * ROW_HEIGHT}px)` }}
    >
      {Array.from({ length: columns }, (_, cell) => (
        <div key={cell} role="cell" className={classes.cell}>
          <Skeleton height={14} width="70%" />
        </div>
      ))}
    </div>
  ));
}
