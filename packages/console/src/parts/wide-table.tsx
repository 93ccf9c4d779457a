import { Table } from "@mantine/core";
import type { ReactNode } from "react";

/** A table that scrolls sideways where the window is narrow; the keyboard scrolls it too. */
export function WideTable(props: { readonly label: string; readonly minWidth?: number; readonly children: ReactNode }) {
  return (
    <Table.ScrollContainer
      minWidth={props.minWidth ?? 480}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, role: "group", "aria-label": props.label } }}
    >
      <Table aria-label={props.label}>{props.children}</Table>
    </Table.ScrollContainer>
  );
}
