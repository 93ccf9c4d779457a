import type { Input } from "@binnacle/client";
import { Button, Checkbox, Code, Group, NumberInput, Select, Stack, Text, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useAll } from "../api/all.runner.ts";
import { failureView } from "../api/failure.ts";
import { client } from "../api/session.adapter.ts";
import { useOrgs } from "../frame/org-switcher.tsx";
import { SameByCommand } from "../parts/action-dialog.tsx";
import { CopyText } from "../parts/copy-text.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { FailurePanel } from "../parts/loaded.tsx";
import { Notice } from "../parts/notice.tsx";
import { type CliScope, SCOPE_WORDS, SCOPES } from "./grants.ts";

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
  const cache = useQueryClient();
  const orgs = useOrgs();
  const projects = useAll("listProjects", {});
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly CliScope[]>(["read"]);
  const [days, setDays] = useState<number | string>(90);
  const [place, setPlace] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isPending, setPending] = useState(false);
  const problems = error ? failureView(error).fields : {};

  const [kind, id] = place?.split(":") ?? [];
  const body: Input<"createCliToken">["body"] = {
    name,
    scopes,
    expires_in_days: Number(days),
    ...(kind === "org" && id ? { org_id: id } : {}),
    ...(kind === "project" && id ? { project_id: id } : {}),
  };

  async function create(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (isPending) return;
    setPending(true);
    setError(null);
    try {
      // Called without the cache, which would keep the token after the dialog.
      const made = await client.call("createCliToken", { body });
      props.onCreated(made.token);
      void cache.invalidateQueries({ queryKey: ["listCliTokens"] });
    } catch (failure) {
      setError(failure);
    } finally {
      setPending(false);
    }
  }

  return (
    <form onSubmit={(event) => void create(event)}>
      <Stack gap="md">
        <TextInput
          label="Name"
          description="What uses it, such as the name of a pipeline."
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={problems["name"]}
          maxLength={100}
          autoComplete="off"
          withAsterisk
          data-autofocus
        />
        <Checkbox.Group
          label="Scopes"
          description="Give as little as it needs."
          value={[...scopes]}
          onChange={(values) => setScopes(values as CliScope[])}
          error={problems["scopes"]}
          withAsterisk
        >
          <Stack gap="xs" mt="xs">
            {SCOPES.map((scope) => (
              <Checkbox key={scope} value={scope} label={<Code>{scope}</Code>} description={SCOPE_WORDS[scope]} />
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
            value={place}
            onChange={setPlace}
            error={problems["org_id"] ?? problems["project_id"]}
            data={[
              {
                group: "Organizations",
                items: (orgs.data ?? []).map((org) => ({ value: `org:${org.id}`, label: org.name })),
              },
              {
                group: "Projects",
                items: (projects.data ?? []).map((project) => ({
                  value: `project:${project.id}`,
                  label: project.name,
                })),
              },
            ]}
          />
          <NumberInput
            label="Valid for days"
            description="1 to 365."
            value={days}
            onChange={setDays}
            min={1}
            max={365}
            allowDecimal={false}
            error={problems["expires_in_days"]}
          />
        </Group>
        {error ? <FailurePanel error={error} /> : null}
        <SameByCommand
          operation="createCliToken"
          input={{ body }}
          command={`binnacle tokens create ${name || "…"} --scopes ${scopes.join(",") || "…"} --expires-in-days ${days}`}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={props.onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isPending} disabled={!name || scopes.length === 0}>
            Create token
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

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
