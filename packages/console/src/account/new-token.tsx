import { Button, Checkbox, Code, Group, NumberInput, Select, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAll } from "../api/all.runner.ts";
import { CopyText } from "../components/copy-text.tsx";
import { Dialog } from "../components/dialog.tsx";
import { OperationForm } from "../components/form.tsx";
import { Notice } from "../components/notice.tsx";
import { useOrgs } from "../frame/org-switcher.tsx";
import { type CliScope, SCOPE_LABELS, SCOPES } from "./grants.ts";

/** Creates a CLI token and shows it once. The token is in this component alone, and is gone with it. */
export function NewToken({ onClose }: { readonly onClose: () => void }) {
  const [token, setToken] = useState<string | null>(null);
  return (
    <Dialog
      opened
      onClose={onClose}
      title={token === null ? "Create a CLI token" : "Your new token"}
      size="lg"
      // A click beside the dialog must not lose a token that is shown once.
      closeOnClickOutside={token === null}
      closeOnEscape={token === null}
    >
      {token === null ? (
        <TokenForm onClose={onClose} onCreated={setToken} />
      ) : (
        <Shown token={token} onClose={onClose} />
      )}
    </Dialog>
  );
}

function TokenForm(props: { readonly onClose: () => void; readonly onCreated: (token: string) => void }) {
  const orgs = useOrgs();
  const projects = useAll("listProjects", {});
  return (
    <OperationForm
      operation="createCliToken"
      values={{ name: "", scopes: ["read"] as CliScope[], expires_in_days: 90, place: null as string | null }}
      input={({ place, ...typed }) => {
        const [key, id] = place?.split("=") ?? [];
        return { body: { ...typed, ...(key ? { [key]: id } : {}) } };
      }}
      renameErrors={({ org_id, project_id, ...others }) => {
        const place = org_id ?? project_id;
        return { ...others, ...(place && { place }) };
      }}
      action="Create token"
      isReady={({ name, scopes }) => name !== "" && scopes.length > 0}
      named={[...(projects.data ?? []), ...(orgs.data ?? []).map(({ id, slug }) => ({ id, name: slug }))]}
      onCancel={props.onClose}
      onDone={({ token }) => props.onCreated(token)}
    >
      {({ field }) => (
        <>
          <TextInput
            label="Name"
            description="What uses it, such as the name of a pipeline."
            maxLength={100}
            withAsterisk
            data-autofocus
            {...field("name")}
          />
          <Checkbox.Group label="Scopes" description="Give as little as it needs." withAsterisk {...field("scopes")}>
            <Stack gap="xs" mt="xs">
              {SCOPES.map((scope) => (
                <Checkbox key={scope} value={scope} label={<Code>{scope}</Code>} description={SCOPE_LABELS[scope]} />
              ))}
            </Stack>
          </Checkbox.Group>
          <Group grow align="flex-start">
            <Select
              label="Works in"
              description="Everything outside does not exist for it."
              placeholder="Everywhere"
              clearable
              searchable
              data={[
                { group: "Organizations", items: choices("org_id", orgs.data) },
                { group: "Projects", items: choices("project_id", projects.data) },
              ]}
              {...field("place")}
            />
            <NumberInput
              label="Valid for days"
              description="1 to 365."
              min={1}
              max={365}
              allowDecimal={false}
              {...field("expires_in_days")}
            />
          </Group>
        </>
      )}
    </OperationForm>
  );
}

const choices = (key: string, of: readonly { readonly id: string; readonly name: string }[] = []) =>
  of.map(({ id, name }) => ({ value: `${key}=${id}`, label: name }));

function Shown({ token, onClose }: { readonly token: string; readonly onClose: () => void }) {
  return (
    <Stack>
      <Notice tone="warning" title="Copy it now">
        It is shown this once. Keep it where you keep passwords; whoever has it acts in your name.
      </Notice>
      <Group gap={4} wrap="nowrap" align="flex-start">
        <Code block style={{ flex: 1, whiteSpace: "pre-wrap", overflowWrap: "anywhere" }} data-token>
          {token}
        </Code>
        <CopyText text={token} label="Copy the token" />
      </Group>
      <Text size="sm">
        Programs read it from the variable <Code>BINNACLE_TOKEN</Code>.
      </Text>
      <Group justify="flex-end">
        <Button onClick={onClose}>I have copied it</Button>
      </Group>
    </Stack>
  );
}
