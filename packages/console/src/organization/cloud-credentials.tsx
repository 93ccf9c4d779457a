import type { Credential } from "@binnacle/client";
import { ActionIcon, Button, Code, Group, Menu, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { IconDots, IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useOrg } from "../frame/org.tsx";
import { ActionDialog } from "../parts/action-dialog.tsx";
import { type Column, ListTable } from "../parts/list-table.tsx";
import { Moment } from "../parts/moment.tsx";
import { EmptyState } from "../parts/page.tsx";
import { CheckCredential } from "./check-credential.tsx";

/** Keys with which clusters are created at AWS. */
export function CloudCredentials() {
  const org = useOrg();
  const [isCreating, setCreating] = useState(false);
  const [rotating, setRotating] = useState<Credential | null>(null);
  const [checking, setChecking] = useState<Credential | null>(null);
  const [deleting, setDeleting] = useState<Credential | null>(null);
  const columns: readonly Column<Credential>[] = [
    {
      key: "name",
      title: "Name",
      width: "minmax(120px, 1.5fr)",
      render: ({ name }) => (
        <Text size="sm" fw={600} truncate>
          {name}
        </Text>
      ),
    },
    { key: "provider", title: "Provider", width: "90px", render: ({ provider }) => provider.toUpperCase() },
    {
      key: "region",
      title: "Region",
      width: "minmax(90px, 1fr)",
      from: "tablet",
      render: ({ region }) => region ?? "—",
    },
    {
      key: "key",
      title: "Access key",
      width: "minmax(100px, 1fr)",
      from: "tablet",
      render: ({ access_key_id }) => (access_key_id ? <Code>{access_key_id}</Code> : "—"),
    },
    {
      key: "changed",
      title: "Changed",
      width: "110px",
      from: "tablet",
      render: ({ updated_at }) => <Moment at={updated_at} />,
    },
    {
      key: "actions",
      title: "",
      width: "40px",
      render: (credential) => (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${credential.name}`}>
              <IconDots size={16} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => setChecking(credential)}>Check</Menu.Item>
            <Menu.Item onClick={() => setRotating(credential)}>Change or rotate the keys</Menu.Item>
            <Menu.Item color="red" onClick={() => setDeleting(credential)}>
              Delete
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      ),
    },
  ];
  return (
    <Stack>
      <Group justify="flex-end">
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
          Add AWS keys
        </Button>
      </Group>
      <ListTable
        label="Cloud credentials"
        operation="listCredentials"
        input={{ id: org.id }}
        columns={columns}
        empty={
          <EmptyState
            title="No cloud credentials"
            command="binnacle credentials create prod --provider aws --region eu-central-1"
          >
            With keys of AWS, Binnacle creates clusters there. Give it a user of its own with the least rights.
          </EmptyState>
        }
      />
      {isCreating ? <CreateKeys onClose={() => setCreating(false)} /> : null}
      {checking ? <CheckCredential credential={checking} onClose={() => setChecking(null)} /> : null}
      {rotating ? <RotateKeys credential={rotating} onClose={() => setRotating(null)} /> : null}
      {deleting ? (
        <ActionDialog
          opened
          onClose={() => setDeleting(null)}
          title={`Delete ${deleting.name}`}
          operation="deleteCredential"
          input={{ id: deleting.id }}
          action="Delete credential"
          typeName={deleting.name}
          consequences={[
            "No cluster can be created, scaled or deleted with it any more. While a cluster uses it, it is refused.",
            "The keys stay valid at AWS: delete them there too.",
          ]}
          command={`binnacle credentials delete ${deleting.name} --org ${org.slug}`}
          done={`${deleting.name} is deleted.`}
        />
      ) : null}
    </Stack>
  );
}

function CreateKeys({ onClose }: { readonly onClose: () => void }) {
  const org = useOrg();
  const [typed, setTyped] = useState({ name: "", region: "", access_key_id: "", secret_access_key: "" });
  return (
    <ActionDialog
      opened
      onClose={onClose}
      title="Add AWS keys"
      operation="createCredential"
      input={{ id: org.id, body: { provider: "aws", ...typed } }}
      action="Add keys"
      isReady={Object.values(typed).every((text) => text !== "")}
      command={`binnacle credentials create ${typed.name || "…"} --provider aws --region ${typed.region || "…"} --org ${org.slug}`}
      done={`${typed.name} is stored.`}
    >
      {(problems) => <KeyFields typed={typed} onChange={setTyped} problems={problems} isNew />}
    </ActionDialog>
  );
}

function RotateKeys({ credential, onClose }: { readonly credential: Credential; readonly onClose: () => void }) {
  const org = useOrg();
  const [typed, setTyped] = useState({
    name: credential.name,
    region: credential.region ?? "",
    access_key_id: "",
    secret_access_key: "",
  });
  const body = {
    ...(typed.name === credential.name ? {} : { name: typed.name }),
    ...(typed.region === (credential.region ?? "") ? {} : { region: typed.region }),
    ...(typed.access_key_id ? { access_key_id: typed.access_key_id } : {}),
    ...(typed.secret_access_key ? { secret_access_key: typed.secret_access_key } : {}),
  };
  return (
    <ActionDialog
      opened
      onClose={onClose}
      title={`Change ${credential.name}`}
      operation="updateCredential"
      input={{ id: credential.id, body }}
      action="Save"
      isReady={Object.keys(body).length > 0}
      consequences={
        typed.access_key_id ? ["The next action at AWS uses the new keys. Delete the old ones there afterwards."] : []
      }
      command={`binnacle credentials update ${credential.name} --org ${org.slug}`}
      done={`${typed.name} is saved.`}
    >
      {(problems) => <KeyFields typed={typed} onChange={setTyped} problems={problems} isNew={false} />}
    </ActionDialog>
  );
}

interface Keys {
  readonly name: string;
  readonly region: string;
  readonly access_key_id: string;
  readonly secret_access_key: string;
}

function KeyFields(props: {
  readonly typed: Keys;
  readonly onChange: (typed: Keys) => void;
  readonly problems: Readonly<Record<string, string>>;
  readonly isNew: boolean;
}) {
  const { typed, onChange, problems, isNew } = props;
  const field = (key: keyof Keys) => ({
    value: typed[key],
    error: problems[key],
    onChange: (event: { currentTarget: HTMLInputElement }) => onChange({ ...typed, [key]: event.currentTarget.value }),
  });
  return (
    <Stack gap="sm">
      <TextInput label="Name" autoComplete="off" withAsterisk {...field("name")} data-autofocus />
      <TextInput label="Region" placeholder="eu-central-1" autoComplete="off" withAsterisk {...field("region")} />
      <TextInput
        label="Access key id"
        placeholder={isNew ? "AKIA…" : "Left empty, it stays"}
        autoComplete="off"
        withAsterisk={isNew}
        {...field("access_key_id")}
      />
      <PasswordInput
        label="Secret access key"
        placeholder={isNew ? "" : "Left empty, it stays"}
        autoComplete="new-password"
        withAsterisk={isNew}
        {...field("secret_access_key")}
      />
    </Stack>
  );
}
