import { Table, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { type Column, titleOf } from "./list-table.tsx";

const BREAKPOINTS = { tablet: "sm", desktop: "lg" } as const;
const visibility = ({ from }: Pick<Column<never>, "from">) => (from ? { visibleFrom: BREAKPOINTS[from] } : {});

/**
 * The rows of an answer that has all of them; longer lists are a `ListTable`. It scrolls sideways where the window is narrow, also
 * by the keyboard.
 */
export function ShortTable<T>(props: {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  readonly empty: ReactNode;
  readonly minWidth?: number;
  /** All columns are as wide as each other, whatever is in them. */
  readonly isEven?: boolean;
}) {
  const { label, columns, rows, keyOf, empty, minWidth = 300 } = props;
  if (rows.length === 0) {
    return typeof empty === "string" ? (
      <Text size="sm" c="dimmed">
        {empty}
      </Text>
    ) : (
      empty
    );
  }
  return (
    <Table.ScrollContainer
      minWidth={minWidth}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, role: "group", "aria-label": label } }}
    >
      <Table aria-label={label} layout={props.isEven ? "fixed" : "auto"}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th {...visibility(column)} key={column.title}>
                {titleOf(column)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={keyOf(row)}>
              {columns.map((column) => (
                <Table.Td {...visibility(column)} key={column.title} style={{ overflowWrap: "anywhere" }}>
                  {column.render(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
