import type { Input, OrgSettings } from "@binnacle/client";
import {
  Alert,
  Button,
  Code,
  Group,
  List,
  PasswordInput,
  Select,
  Stack,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useState } from "react";
import { useChange } from "../api/queries.runner.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { type Fields, OperationForm } from "../components/form.tsx";
import { FailurePanel } from "../components/loaded.tsx";
import { Facts } from "../components/page.tsx";
import { useMay, useOrg } from "../frame/org.tsx";

type Gitops = NonNullable<OrgSettings["gitops"]>;
type GitopsInput = NonNullable<Input<"updateOrgSettings">["body"]["settings"]["gitops"]>;

const PROVIDERS = [
  { value: "gitea", label: "Gitea or Forgejo" },
  { value: "github", label: "GitHub" },
  { value: "gitlab", label: "GitLab" },
  { value: "gitolite", label: "gitolite" },
];

/** Where the desired state of the clusters is kept in Git. */
export function GitopsSettings({ gitops }: { readonly gitops: Gitops | null }) {
  const may = useMay();
  if (may("updateOrgSettings")) return <GitopsForm gitops={gitops} />;
  if (!gitops) return <Text size="sm">The desired state of clusters is not written to Git.</Text>;
  return (
    <Facts
      of={[
        ["Host", gitops.base_url],
        ["Owner", gitops.owner],
        ["Branch", gitops.branch],
        ["Signed with", <Code key="key">{gitops.signing_key}</Code>],
      ]}
    />
  );
}

function GitopsForm({ gitops }: { readonly gitops: Gitops | null }) {
  const org = useOrg();
  const [isEnding, setEnding] = useState(false);
  const values: Values = {
    settings: {
      gitops: {
        provider: gitops?.provider ?? "gitea",
        base_url: gitops?.base_url ?? "",
        owner: gitops?.owner ?? "",
        ssh_url: gitops?.ssh_url ?? "",
        token: "",
        branch: gitops?.branch ?? "main",
        author_email_domain: gitops?.author_email_domain ?? "",
        host_keys: gitops?.host_keys.map(({ key }) => key).join("\n") ?? "",
      },
    },
  };
  return (
    <Stack>
      <Text size="sm">
        Each change of desired state becomes a signed commit in a repository of its cluster. Secrets are not written; a
        fingerprint stands for each.
      </Text>
      <OperationForm
        operation="updateOrgSettings"
        values={values}
        input={({ settings }) => ({ org_id: org.id, body: { settings: { gitops: inputOf(settings.gitops, gitops) } } })}
        hasCommands={false}
        action={gitops ? "Save the Git host" : "Write to this Git host"}
        isReady={({ settings: { gitops: typed } }) => typed.base_url !== "" && typed.owner !== ""}
        done="The Git host is saved. The state of each cluster is being written."
      >
        {(fields) => <HostFields fields={fields} gitops={gitops} />}
      </OperationForm>
      {gitops ? (
        <Group justify="flex-end">
          <Button variant="subtle" color="red" onClick={() => setEnding(true)}>
            Stop writing to Git
          </Button>
        </Group>
      ) : null}
      <ActionDialog
        opened={isEnding}
        onClose={() => setEnding(false)}
        title="Stop writing to Git"
        operation="updateOrgSettings"
        input={{ org_id: org.id, body: { settings: { gitops: null } } }}
        action="Stop writing to Git"
        consequences={["Changes are no longer written.", "The repositories and their keys stay at the host."]}
        done="Nothing is written to Git any more."
      />
    </Stack>
  );
}

const TOKEN_HINT = "Written and never shown. Empty to keep the stored one, at the same address and owner.";

interface Values {
  readonly settings: { readonly gitops: Typed };
}

interface Typed {
  readonly provider: Gitops["provider"];
  readonly base_url: string;
  readonly owner: string;
  readonly ssh_url: string;
  readonly token: string;
  readonly branch: string;
  readonly author_email_domain: string;
  readonly host_keys: string;
}

function inputOf(typed: Typed, before: Gitops | null): GitopsInput {
  const { token, ssh_url, author_email_domain, host_keys, ...fields } = typed;
  const keys = host_keys
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  return {
    ...fields,
    ssh_url: ssh_url || null,
    author_email_domain: author_email_domain || null,
    ...(before ? { key_grace_hours: before.key_grace_hours } : {}),
    ...(token === "" ? {} : { token }),
    ...(keys.length > 0 ? { host_keys: keys } : {}),
  };
}

function HostFields({ fields, gitops }: { readonly fields: Fields<Values>; readonly gitops: Gitops | null }) {
  const { field, values } = fields;
  const typed = values.settings.gitops;
  return (
    <>
      <Group grow align="flex-start">
        <Select label="Kind of host" data={PROVIDERS} allowDeselect={false} {...field("settings.gitops.provider")} />
        <TextInput
          label="Address"
          description="ssh://git@host for gitolite."
          placeholder="https://git.example.com"
          required
          {...field("settings.gitops.base_url")}
        />
      </Group>
      <Group grow align="flex-start">
        <TextInput
          label="Owner"
          description="The organization, group or user in which repositories are made."
          required
          {...field("settings.gitops.owner")}
        />
        <TextInput label="Branch" description="The same in every repository." {...field("settings.gitops.branch")} />
      </Group>
      {typed.provider === "gitolite" ? (
        <Textarea
          label="Private key of the administrator"
          description={TOKEN_HINT}
          autosize
          minRows={3}
          {...field("settings.gitops.token")}
        />
      ) : (
        <PasswordInput label="Token" description={TOKEN_HINT} autoComplete="off" {...field("settings.gitops.token")} />
      )}
      {typed.provider === "gitolite" ? null : (
        <TextInput
          label="Address of SSH"
          description="Empty for ssh://git@ and the same host."
          placeholder="ssh://git@git.example.com:2222"
          {...field("settings.gitops.ssh_url")}
        />
      )}
      <TextInput
        label="Domain of authors"
        description="Commits are by <username>@<domain>. Empty for the addresses of the accounts."
        {...field("settings.gitops.author_email_domain")}
      />
      <Textarea
        label="Keys of the host"
        description="One in each line. Empty to pin those that the host shows."
        autosize
        minRows={2}
        {...field("settings.gitops.host_keys")}
      />
      <TestHost input={inputOf(typed, gitops)} />
      {gitops ? <Facts of={[["Signed with", <Code key="key">{gitops.signing_key}</Code>]]} /> : null}
    </>
  );
}

function TestHost({ input }: { readonly input: GitopsInput }) {
  const org = useOrg();
  const test = useChange("testGitops");
  const tested = test.data;
  const isReady = input.base_url !== "" && input.owner !== "";
  return (
    <Stack gap="xs">
      <Group>
        <Button
          variant="light"
          loading={test.isPending}
          disabled={!isReady}
          onClick={() => test.mutate({ id: org.id, body: { gitops: input } })}
        >
          Test the host
        </Button>
      </Group>
      {test.error ? <FailurePanel error={test.error} /> : null}
      {tested ? (
        <Alert
          color={tested.ok ? "green" : "red"}
          title={tested.ok ? "The host can be used" : "The host cannot be used yet"}
          role="status"
        >
          <List size="sm" spacing={4}>
            {tested.problems.map(({ message }) => (
              <List.Item key={message}>{message}</List.Item>
            ))}
            {tested.host_keys.map(({ type, fingerprint }) => (
              <List.Item key={fingerprint} style={{ overflowWrap: "anywhere" }}>
                It shows the key {type} {fingerprint}
              </List.Item>
            ))}
          </List>
        </Alert>
      ) : null}
    </Stack>
  );
}
