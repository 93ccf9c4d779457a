import type { App } from "@binnacle/client";
import {
  Button,
  Code,
  Group,
  PasswordInput,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
  VisuallyHidden,
} from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconPlus } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { failureView } from "../../api/failure.ts";
import { useRead } from "../../api/queries.runner.ts";
import { client } from "../../api/session.adapter.ts";
import { Allowed } from "../../frame/org.tsx";
import { ActionDialog } from "../../parts/action-dialog.tsx";
import { FailurePanel, Loaded } from "../../parts/loaded.tsx";
import { Moment } from "../../parts/moment.tsx";
import { EmptyState, Section } from "../../parts/page.tsx";
import { usePageSearch } from "../../parts/use-search.tsx";
import { addressOf, cliName } from "../app-address.ts";

/** The keys of a component's secrets. Values are written and never read back. */
export function SecretsTab({ app }: { readonly app: App }) {
  const [search, choose] = usePageSearch();
  const names = app.components.map(({ name }) => name);
  const component = names.find((name) => name === search["component"]) ?? names[0];
  if (component === undefined)
    return <EmptyState title="No components">An app without components has no secrets.</EmptyState>;
  return (
    <Stack gap="md">
      {names.length > 1 ? (
        <Select
          label="Component"
          data={names}
          value={component}
          onChange={(value) => choose({ component: value ?? undefined })}
          allowDeselect={false}
          maw={320}
        />
      ) : null}
      <ComponentSecrets key={component} app={app} component={component} />
    </Stack>
  );
}

function ComponentSecrets({ app, component }: { readonly app: App; readonly component: string }) {
  const secrets = useRead("listComponentSecrets", { ...addressOf(app), component });
  const [removing, setRemoving] = useState<string | null>(null);
  const place = { clusterId: app.cluster_id, projectId: app.project_id };
  return (
    <>
      <Section title={`Secrets of ${component}`}>
        <Loaded of={secrets}>
          {({ data }) =>
            data.length === 0 ? (
              <EmptyState
                title="No secrets"
                command={`binnacle apps secrets set ${cliName(app)} API_KEY --component ${component}`}
              >
                A secret is a variable of the component whose value is sealed. It is never shown again, here or
                elsewhere.
              </EmptyState>
            ) : (
              <Table aria-label={`Secrets of ${component}`}>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Key</Table.Th>
                    <Table.Th>Set</Table.Th>
                    <Table.Th>
                      <VisuallyHidden>Actions</VisuallyHidden>
                    </Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {data.map(({ key, updated_at, chart_value }) => (
                    <Table.Tr key={key}>
                      <Table.Td style={{ overflowWrap: "anywhere" }}>
                        <Code>{key}</Code>
                        {chart_value === null ? null : (
                          <Text size="xs" c="dimmed">
                            {chart_value === "sealed_values"
                              ? "A value of the chart, sealed because it looks like a secret. List it in plain_values if it is none."
                              : "A value of the chart, listed in secret_values."}
                          </Text>
                        )}
                      </Table.Td>
                      <Table.Td>
                        <Moment at={updated_at} />
                      </Table.Td>
                      <Table.Td ta="right">
                        <Allowed to="deleteComponentSecret" in={place}>
                          <Button
                            size="compact-xs"
                            variant="subtle"
                            color="gray"
                            onClick={() => setRemoving(key)}
                            aria-label={`Unset ${key}`}
                          >
                            Unset
                          </Button>
                        </Allowed>
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            )
          }
        </Loaded>
      </Section>
      <Allowed to="updateComponentSecrets" in={place}>
        <SetSecret app={app} component={component} />
      </Allowed>
      {removing === null ? null : (
        <ActionDialog
          opened
          onClose={() => setRemoving(null)}
          title={`Unset ${removing}`}
          operation="deleteComponentSecret"
          input={{ ...addressOf(app), component, key: removing }}
          action="Unset"
          consequences={[
            `${component} loses the variable ${removing} and is restarted.`,
            "The value cannot be brought back.",
          ]}
          command={`binnacle apps secrets unset ${cliName(app)} ${removing} --component ${component}`}
          done={`${removing} is unset.`}
        />
      )}
    </>
  );
}

/** The value stays in this form until it is sent; it goes neither into the cache of answers nor into an address. */
function SetSecret({ app, component }: { readonly app: App; readonly component: string }) {
  const cache = useQueryClient();
  const [key, setKey] = useState("");
  const [value, setValue] = useState("");
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const fields = error ? failureView(error).fields : {};
  const [wrong] = Object.values(fields);

  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    setSending(true);
    setError(null);
    try {
      await client.call("updateComponentSecrets", { ...addressOf(app), component, body: { [key]: value } });
      setKey("");
      setValue("");
      notifications.show({ message: `${key} is set. ${component} is being restarted.`, color: "green" });
      void cache.invalidateQueries();
    } catch (failure) {
      setError(failure);
    } finally {
      setSending(false);
    }
  }

  return (
    <Section title="Set a secret">
      <form onSubmit={(event) => void send(event)} autoComplete="off">
        <Stack gap="sm">
          <Group gap="sm" align="flex-start">
            <TextInput
              label="Key"
              placeholder="API_KEY"
              value={key}
              onChange={(event) => setKey(event.currentTarget.value)}
              error={wrong}
              autoComplete="off"
              spellCheck={false}
              w={{ base: "100%", xs: 240 }}
            />
            <PasswordInput
              label="Value"
              value={value}
              onChange={(event) => setValue(event.currentTarget.value)}
              autoComplete="new-password"
              w={{ base: "100%", xs: 320 }}
            />
          </Group>
          {error && !wrong ? <FailurePanel error={error} /> : null}
          <Group>
            <Button
              type="submit"
              size="xs"
              leftSection={<IconPlus size={14} aria-hidden />}
              loading={isSending}
              disabled={key === "" || value === ""}
            >
              Set
            </Button>
            <Text size="xs" c="dimmed">
              A key that exists already gets the new value.
            </Text>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
