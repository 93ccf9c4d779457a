import { commandLine } from "@binnacle/cli/command-line";
import type { Input, RateLimit } from "@binnacle/client";
import { Code, Group, NumberInput, Select, Stack, TextInput } from "@mantine/core";
import { useRead } from "../api/queries.runner.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { Loaded } from "../components/loaded.tsx";
import { EmptyState } from "../components/page.tsx";
import { ResourceList } from "../components/resource-list.tsx";
import { usePageSearch } from "../components/use-search.tsx";

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
  return (
    <ResourceList
      label={`Limits of ${tier}`}
      operation="listRateLimits"
      input={{ tier_name: tier }}
      intro={`Users of the tier ${tier} get a 429 beyond these limits.`}
      nameOf={(limit) => limit.path}
      columns={[
        { title: "Path", width: "minmax(0, 2fr)", render: ({ path }) => <Code>{path}</Code> },
        {
          title: "At most",
          width: "minmax(0, 1.2fr)",
          render: ({ limit, period }) => `${limit.toLocaleString()} in ${period} s`,
        },
        { title: "Name", from: "tablet", render: ({ name }) => name ?? "—" },
      ]}
      empty={
        <EmptyState
          title="No limits"
          command={commandLine("createRateLimit", { tier_name: tier, body: { path: "/apps", limit: 100, period: 60 } })}
        >
          Without a limit for a path, users of this tier may ask for it as often as the server can answer.
        </EmptyState>
      }
      add={{
        label: "Add limit",
        operation: "createRateLimit",
        dialog: (close) => (
          <EditLimit
            onClose={close}
            limit={{ path: "/", limit: 100, period: 60 }}
            title={`Add a limit to ${tier}`}
            operation="createRateLimit"
            address={{ tier_name: tier }}
            action="Add limit"
          />
        ),
      }}
      menu={(limit) => [
        {
          label: "Change",
          operation: "updateRateLimit",
          dialog: (close) => (
            <EditLimit
              onClose={close}
              limit={limit}
              title={`Change the limit of ${limit.path}`}
              operation="updateRateLimit"
              address={{ tier_name: tier, id: limit.id }}
              action="Save"
            />
          ),
        },
        {
          label: "Delete",
          isDangerous: true,
          operation: "deleteRateLimit",
          dialog: (close) => (
            <ActionDialog
              onClose={close}
              title={`Delete the limit of ${limit.path}`}
              operation="deleteRateLimit"
              input={{ tier_name: tier, id: limit.id }}
              action="Delete limit"
              consequences={[`Users of the tier ${tier} may ask for ${limit.path} without this limit.`]}
              done="The limit is deleted."
            />
          ),
        },
      ]}
    />
  );
}

type Typed = Pick<RateLimit, "path" | "limit" | "period">;

function EditLimit<N extends "createRateLimit" | "updateRateLimit">(props: {
  readonly onClose: () => void;
  readonly limit: Typed;
  readonly title: string;
  readonly operation: N;
  readonly address: Omit<Input<N>, "body">;
  readonly action: string;
}) {
  const {
    limit: { path, limit, period },
    address,
    ...dialog
  } = props;
  return (
    <ActionDialog
      {...dialog}
      values={{ path, limit, period }}
      input={(typed) =>
        ({ ...address, body: { ...typed, limit: Number(typed.limit), period: Number(typed.period) } }) as Input<N>
      }
      isReady={(typed) => typed.path !== "" && typed.limit > 0 && typed.period > 0}
      done="The limit holds from now on."
    >
      {({ field }) => (
        <>
          <TextInput label="Path" description="Relative to /api/v1, such as /apps." {...field("path")} />
          <Group grow align="flex-start">
            <NumberInput label="Requests" min={1} allowDecimal={false} {...field("limit")} />
            <NumberInput label="In seconds" min={1} allowDecimal={false} {...field("period")} />
          </Group>
        </>
      )}
    </ActionDialog>
  );
}
