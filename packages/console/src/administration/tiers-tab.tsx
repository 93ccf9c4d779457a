import type { RateLimit } from "@binnacle/client";
import { ActionIcon, Button, Code, Group, Menu, NumberInput, Select, Stack, Text, TextInput } from "@mantine/core";
import { IconDots, IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useRead } from "../api/queries.runner.ts";
import { ActionDialog } from "../parts/action-dialog.tsx";
import { type Column, ListTable } from "../parts/list-table.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { EmptyState } from "../parts/page.tsx";
import { usePageSearch } from "../parts/use-search.tsx";

/** How many requests the users of each tier may send. */
export function TiersTab() {
  const tiers = useRead("listTiers", {});
  const [search, choose] = usePageSearch();
  return (
    <Loaded of={tiers}>
      {({ data }) => {
        const names = data.map(({ name }) => name);
        const tier = names.find((name) => name === search["tier"]) ?? names[0];
        return tier === undefined ? (
          <EmptyState title="No tiers">The database has none, which should not be.</EmptyState>
        ) : (
          <Stack>
            <Select
              label="Tier"
              data={names}
              value={tier}
              onChange={(value) => choose({ tier: value ?? undefined })}
              allowDeselect={false}
              w={240}
            />
            <Limits key={tier} tier={tier} />
          </Stack>
        );
      }}
    </Loaded>
  );
}

function Limits({ tier }: { readonly tier: string }) {
  const [editing, setEditing] = useState<RateLimit | "new" | null>(null);
  const [deleting, setDeleting] = useState<RateLimit | null>(null);
  const columns: readonly Column<RateLimit>[] = [
    { key: "path", title: "Path", width: "minmax(0, 2fr)", render: ({ path }) => <Code>{path}</Code> },
    {
      key: "limit",
      title: "At most",
      width: "minmax(0, 1.2fr)",
      render: ({ limit, period }) => `${limit.toLocaleString()} in ${period} s`,
    },
    { key: "name", title: "Name", width: "minmax(100px, 1fr)", from: "tablet", render: ({ name }) => name ?? "—" },
    {
      key: "actions",
      title: "",
      width: "40px",
      render: (limit) => (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${limit.path}`}>
              <IconDots size={16} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => setEditing(limit)}>Change</Menu.Item>
            <Menu.Item color="red" onClick={() => setDeleting(limit)}>
              Delete
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      ),
    },
  ];
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          Users of the tier {tier} get a 429 beyond these limits.
        </Text>
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEditing("new")}>
          Add limit
        </Button>
      </Group>
      <ListTable
        label={`Limits of ${tier}`}
        operation="listRateLimits"
        input={{ tier_name: tier }}
        columns={columns}
        empty={
          <EmptyState title="No limits" command={`binnacle tiers limits create ${tier} /apps --limit 100 --period 60`}>
            Without a limit for a path, users of this tier may ask for it as often as the server can answer.
          </EmptyState>
        }
      />
      {editing === null ? null : (
        <EditLimit tier={tier} limit={editing === "new" ? null : editing} onClose={() => setEditing(null)} />
      )}
      {deleting ? (
        <ActionDialog
          opened
          onClose={() => setDeleting(null)}
          title={`Delete the limit of ${deleting.path}`}
          operation="deleteRateLimit"
          input={{ tier_name: tier, id: deleting.id }}
          action="Delete limit"
          consequences={[`Users of the tier ${tier} may ask for ${deleting.path} without this limit.`]}
          command={`binnacle tiers limits delete ${tier} ${deleting.id}`}
          done="The limit is deleted."
        />
      ) : null}
    </Stack>
  );
}

function EditLimit(props: { readonly tier: string; readonly limit: RateLimit | null; readonly onClose: () => void }) {
  const { tier, limit, onClose } = props;
  const [path, setPath] = useState(limit?.path ?? "/");
  const [count, setCount] = useState<number | string>(limit?.limit ?? 100);
  const [period, setPeriod] = useState<number | string>(limit?.period ?? 60);
  const body = { path, limit: Number(count), period: Number(period) };
  const fields = (problems: Readonly<Record<string, string>>) => (
    <Stack gap="sm">
      <TextInput
        label="Path"
        description="Relative to /api/v1, such as /apps."
        value={path}
        onChange={(event) => setPath(event.currentTarget.value)}
        error={problems["path"]}
        autoComplete="off"
      />
      <Group grow align="flex-start">
        <NumberInput
          label="Requests"
          value={count}
          onChange={setCount}
          min={1}
          allowDecimal={false}
          error={problems["limit"]}
        />
        <NumberInput
          label="In seconds"
          value={period}
          onChange={setPeriod}
          min={1}
          allowDecimal={false}
          error={problems["period"]}
        />
      </Group>
    </Stack>
  );
  const common = { opened: true, onClose, isReady: path !== "" && body.limit > 0 && body.period > 0 };
  return limit === null ? (
    <ActionDialog
      {...common}
      title={`Add a limit to ${tier}`}
      operation="createRateLimit"
      input={{ tier_name: tier, body }}
      action="Add limit"
      command={`binnacle tiers limits create ${tier} ${path} --limit ${count} --period ${period}`}
      done="The limit holds from now on."
    >
      {fields}
    </ActionDialog>
  ) : (
    <ActionDialog
      {...common}
      title={`Change the limit of ${limit.path}`}
      operation="updateRateLimit"
      input={{ tier_name: tier, id: limit.id, body }}
      action="Save"
      command={`binnacle tiers limits update ${tier} ${limit.id} --limit ${count} --period ${period}`}
      done="The limit holds from now on."
    >
      {fields}
    </ActionDialog>
  );
}
