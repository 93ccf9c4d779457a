import type { Input, ItemOf, ListName, OperationName } from "@binnacle/client";
import { ActionIcon, Button, Group, Menu, Stack, Text } from "@mantine/core";
import { IconDots, IconPlus } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import type { Place } from "../api/access.ts";
import { useMay } from "../frame/org.tsx";
import { type Column, ListTable } from "./list-table.tsx";
import { Loaded, type Query } from "./loaded.tsx";
import { Section } from "./page.tsx";
import { ShortTable } from "./short-table.tsx";

/** What is done in a dialog, by those who may call the operation. */
interface Action {
  readonly label: string;
  readonly operation: OperationName;
  readonly dialog: (close: () => void) => ReactNode;
}

interface RowAction extends Action {
  readonly isDangerous?: boolean;
}

interface Resource<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly empty: ReactNode;
  /** The name of a row, for the labels of its actions. */
  readonly nameOf?: (row: T) => string;
  readonly add?: Action;
  /** The entries of a row's menu. */
  readonly menu?: (row: T) => readonly (RowAction | null)[];
  /** The one button of a row, where there is nothing else to do with it. */
  readonly button?: (row: T) => Action | null;
  /** Where the actions are done, unless it is the organization of the address. */
  readonly place?: Place;
  /** Stands beside the button that adds. */
  readonly intro?: ReactNode;
}

/** A resource as a list of any length, with what can be done with it. */
export function ResourceList<N extends ListName>(
  props: Resource<ItemOf<N>> & { readonly operation: N; readonly input: Input<N> },
) {
  const { columns, add, dialog } = useActions(props);
  return (
    <Stack>
      {props.intro || add ? (
        <Group justify={props.intro ? "space-between" : "flex-end"}>
          {introOf(props.intro)}
          {add}
        </Group>
      ) : null}
      <ListTable
        label={props.label}
        operation={props.operation}
        input={props.input}
        columns={columns}
        empty={props.empty}
      />
      {dialog}
    </Stack>
  );
}

interface FirstAnswer<T> {
  readonly data: readonly T[];
  readonly total_count: number;
  /** An answer that would be too large ends early. */
  readonly next_cursor?: string | null;
}

/** A resource of which one answer has all, or the first of very many, as a part of a page. */
export function ResourceSection<T>(
  props: Resource<T> & {
    readonly of: Query<FirstAnswer<T>>;
    readonly keyOf: (row: T) => string;
    readonly minWidth?: number;
  },
) {
  const { columns, add, dialog } = useActions(props, "xs");
  return (
    <Section title={props.label} actions={add}>
      <Stack gap="sm">
        {introOf(props.intro)}
        <Loaded of={props.of}>
          {({ data, total_count, next_cursor }) => (
            <>
              <ShortTable {...props} columns={columns} rows={data} />
              {next_cursor ? (
                <Text size="sm" c="dimmed">
                  The first {data.length} of {total_count}. The command line lists all of them.
                </Text>
              ) : null}
            </>
          )}
        </Loaded>
      </Stack>
      {dialog}
    </Section>
  );
}

const introOf = (intro: ReactNode) =>
  typeof intro === "string" ? (
    <Text size="sm" c="dimmed" maw={640}>
      {intro}
    </Text>
  ) : (
    intro
  );

/** The button that adds, the columns with that of the actions, and the dialog that is open. */
function useActions<T>({ columns, nameOf, add, menu, button, place }: Resource<T>, size?: "xs") {
  const may = useMay();
  // The dialog is found by its label at every render, so that it has what the page has read since.
  const [open, setOpen] = useState<{ readonly row: T | null; readonly label: string } | null>(null);
  const actionsOf = (row: T): readonly RowAction[] =>
    [...(menu?.(row) ?? []), button?.(row) ?? null].filter(
      (each) => each !== null && may(each.operation, place),
    ) as RowAction[];
  const offered = open === null ? [] : open.row === null ? (add ? [add] : []) : actionsOf(open.row);
  const actions: Column<T> = {
    title: "Actions",
    isTitleHidden: true,
    width: menu ? "40px" : "90px",
    render: (row) => (
      <RowActions
        name={nameOf?.(row) ?? ""}
        isMenu={menu !== undefined}
        actions={actionsOf(row)}
        onChoose={(label) => setOpen({ row, label })}
      />
    ),
  };
  return {
    columns: menu || button ? [...columns, actions] : columns,
    add:
      add && may(add.operation, place) ? (
        <Button
          {...(size && { size })}
          leftSection={<IconPlus size={16} aria-hidden />}
          onClick={() => setOpen({ row: null, label: add.label })}
        >
          {add.label}
        </Button>
      ) : null,
    dialog: offered.find(({ label }) => label === open?.label)?.dialog(() => setOpen(null)),
  };
}

function RowActions(props: {
  readonly name: string;
  readonly isMenu: boolean;
  readonly actions: readonly RowAction[];
  readonly onChoose: (label: string) => void;
}) {
  const { name, isMenu, actions, onChoose } = props;
  if (actions.length === 0) return null;
  if (!isMenu) {
    return actions.map(({ label }) => (
      <Button
        key={label}
        size="compact-sm"
        variant="default"
        display="block"
        ml="auto"
        onClick={() => onChoose(label)}
        aria-label={`${label} ${name}`}
      >
        {label}
      </Button>
    ));
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" display="flex" ml="auto" aria-label={`Actions for ${name}`}>
          <IconDots size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map(({ label, isDangerous }) => (
          <Menu.Item key={label} {...(isDangerous && { color: "red" })} onClick={() => onChoose(label)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
