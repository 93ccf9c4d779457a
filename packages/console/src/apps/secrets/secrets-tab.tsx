import { commandLine } from "@binnacle/cli/command-line";
import type { App } from "@binnacle/client";
import { Code, Group, PasswordInput, Select, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useRead } from "../../api/queries.runner.ts";
import { ActionDialog } from "../../components/action-dialog.tsx";
import { OperationForm } from "../../components/form.tsx";
import { timeColumn } from "../../components/list-table.tsx";
import { EmptyState, Section } from "../../components/page.tsx";
import { ResourceSection } from "../../components/resource-list.tsx";
import { usePageSearch } from "../../components/use-search.tsx";
import { Allowed } from "../../frame/org.tsx";
import { addressOf } from "../app-address.ts";

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
  const address = { ...addressOf(app), component };
  const place = { clusterId: app.cluster_id, projectId: app.project_id };
  return (
    <>
      <ResourceSection
        label={`Secrets of ${component}`}
        of={useRead("listComponentSecrets", address)}
        place={place}
        keyOf={(secret) => secret.key}
        nameOf={(secret) => secret.key}
        columns={[
          {
            title: "Key",
            render: ({ key, chart_value }) => (
              <>
                <Code>{key}</Code>
                {chart_value === null ? null : (
                  <Text size="xs" c="dimmed">
                    {chart_value === "sealed_values"
                      ? "A value of the chart, sealed because it looks like a secret. List it in plain_values if it is not a secret."
                      : "A value of the chart, listed in secret_values."}
                  </Text>
                )}
              </>
            ),
          },
          timeColumn("Set", "updated_at"),
        ]}
        empty={
          <EmptyState
            title="No secrets"
            command={commandLine("updateComponentSecrets", { ...address, body: { API_KEY: "…" } })}
          >
            A secret is a variable of the component whose value is sealed. It is never shown again, here or elsewhere.
          </EmptyState>
        }
        button={({ key }) => ({
          label: "Unset",
          operation: "deleteComponentSecret",
          dialog: (close) => (
            <ActionDialog
              onClose={close}
              title={`Unset ${key}`}
              operation="deleteComponentSecret"
              input={{ ...address, key }}
              action="Unset"
              consequences={[
                `${component} loses the variable ${key} and is restarted.`,
                "The value cannot be brought back.",
              ]}
              done={`${key} is unset.`}
            />
          ),
        })}
      />
      <Allowed to="updateComponentSecrets" in={place}>
        <Section title="Set a secret">
          <SetSecret address={address} />
        </Section>
      </Allowed>
    </>
  );
}

/** The value stays in this form until it is sent; it goes neither into the cache of answers nor into an address. */
function SetSecret({ address }: { readonly address: ReturnType<typeof addressOf> & { readonly component: string } }) {
  return (
    <OperationForm
      operation="updateComponentSecrets"
      values={{ key: "", value: "" }}
      input={({ key, value }) => ({ ...address, body: { [key]: value } })}
      // What the API says is about the key, which is the name of the only field that it was sent.
      renameErrors={(fields) => Object.fromEntries(Object.values(fields).map((message) => ["key", message]))}
      hasCommands={false}
      action="Set"
      icon={<IconPlus size={14} aria-hidden />}
      isReady={({ key, value }) => key !== "" && value !== ""}
      done={({ key }) => `${key} is set. ${address.component} is being restarted.`}
      onDone={(_, form) => form.reset()}
    >
      {({ field }) => (
        <>
          <Group gap="sm" align="flex-start">
            <TextInput
              label="Key"
              placeholder="API_KEY"
              spellCheck={false}
              w={{ base: "100%", xs: 240 }}
              {...field("key")}
            />
            <PasswordInput label="Value" w={{ base: "100%", xs: 320 }} {...field("value")} />
          </Group>
          <Text size="xs" c="dimmed">
            A key that exists already gets the new value.
          </Text>
        </>
      )}
    </OperationForm>
  );
}
