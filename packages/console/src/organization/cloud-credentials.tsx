import { commandLine } from "@binnacle/cli/command-line";
import type { CloudProvider, Credential, Input } from "@binnacle/client";
import { Code, PasswordInput, Select, Text, Textarea, TextInput } from "@mantine/core";
import type { CSSProperties, ReactNode } from "react";
import { useRead } from "../api/queries.runner.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { changedFields, type Fields } from "../components/form.tsx";
import { timeColumn } from "../components/list-table.tsx";
import { Loaded } from "../components/loaded.tsx";
import { EmptyState } from "../components/page.tsx";
import { ResourceList } from "../components/resource-list.tsx";
import { useOrg } from "../frame/org.tsx";
import { CheckCredential } from "./check-credential.tsx";

/** Keys with which clusters are created at clouds. The API says which fields they have. */
export function CloudCredentials() {
  const clouds = useRead("listCloudProviders", {});
  return <Loaded of={clouds}>{({ data }) => <CredentialList clouds={data} />}</Loaded>;
}

interface Clouds {
  readonly clouds: readonly CloudProvider[];
}

function CredentialList({ clouds }: Clouds) {
  const org = useOrg();
  const cloudOf = (credential: Credential) => clouds.find(({ provider }) => provider === credential.provider);
  const nameOf = (credential: Credential) => cloudOf(credential)?.name ?? credential.provider.toUpperCase();
  return (
    <ResourceList
      label="Cloud credentials"
      operation="listCredentials"
      input={{ id: org.id }}
      nameOf={(credential) => credential.name}
      columns={[
        {
          title: "Name",
          width: "minmax(120px, 1.5fr)",
          render: ({ name }) => (
            <Text size="sm" fw={600} truncate>
              {name}
            </Text>
          ),
        },
        { title: "Provider", width: "minmax(90px, 0.7fr)", render: nameOf },
        { title: "Region", from: "tablet", render: ({ region }) => region ?? "—" },
        {
          title: "Fields",
          from: "tablet",
          render: (credential) => <ShownFields credential={credential} cloud={cloudOf(credential)} />,
        },
        timeColumn("Changed", "updated_at", "tablet"),
      ]}
      empty={
        <EmptyState
          title="No cloud credentials"
          command={
            clouds[0]
              ? commandLine("createCredential", { id: org.slug, body: { name: "prod", provider: clouds[0].provider } })
              : null
          }
        >
          With keys of {clouds.map(({ name }) => name).join(" or ")}, Binnacle creates clusters there. Give it a user of
          its own with the least rights.
        </EmptyState>
      }
      add={{
        label: "Add credential",
        operation: "createCredential",
        dialog: (close) => <CreateCredential clouds={clouds} onClose={close} />,
      }}
      menu={(credential) => [
        {
          label: "Check",
          operation: "checkCredential",
          dialog: (close) => <CheckCredential credential={credential} onClose={close} />,
        },
        {
          label: "Change or rotate the keys",
          operation: "updateCredential",
          dialog: (close) => <ChangeCredential credential={credential} cloud={cloudOf(credential)} onClose={close} />,
        },
        {
          label: "Delete",
          isDangerous: true,
          operation: "deleteCredential",
          dialog: (close) => (
            <ActionDialog
              onClose={close}
              title={`Delete ${credential.name}`}
              operation="deleteCredential"
              input={{ id: credential.id }}
              action="Delete credential"
              typeName={credential.name}
              consequences={[
                "No cluster can be created, scaled or deleted with it any more. While a cluster uses it, it is refused.",
                `The keys stay valid at ${nameOf(credential)}: delete them there too.`,
              ]}
              named={[credential]}
              done={`${credential.name} is deleted.`}
            />
          ),
        },
      ]}
    />
  );
}

/** The API says by names which fields there are: all of them are texts. */
const textsOf = (credential: Credential): Readonly<Record<string, string | null | undefined>> => ({ ...credential });

/** The fields that are read back, beside the region. */
function ShownFields({ credential, cloud }: OfCloud) {
  const texts = textsOf(credential);
  const shown = cloud?.fields.filter(({ name }) => name !== "region" && texts[name]) ?? [];
  if (shown.length === 0) return "—";
  return (
    <Text size="sm" component="span" truncate>
      {shown.map(({ name, label }) => (
        <span key={name}>
          {label} <Code>{texts[name]}</Code>{" "}
        </span>
      ))}
    </Text>
  );
}

interface OfCloud {
  readonly credential: Credential;
  readonly cloud: CloudProvider | undefined;
}

type Typed = Readonly<Record<string, string>>;

const secretsOf = (cloud: CloudProvider | undefined) => cloud?.fields.filter(({ secret }) => secret) ?? [];

/** What is typed, with an ellipsis for each secret. */
const covered = (typed: Typed, cloud: CloudProvider | undefined): Typed => ({
  ...typed,
  ...Object.fromEntries(secretsOf(cloud).flatMap(({ name }) => (typed[name] ? [[name, "…"]] : []))),
});

function CreateCredential({ clouds, onClose }: Clouds & { readonly onClose: () => void }) {
  const org = useOrg();
  const cloudOf = (typed: Typed) => clouds.find(({ provider }) => provider === typed["provider"]);
  /** Only the fields of the chosen provider: another one may have been chosen before. */
  const given = (typed: Typed): Typed => {
    const fields = (cloudOf(typed)?.fields ?? []).filter(({ name, optional }) => !optional || typed[name]);
    const names = ["name", "provider", ...fields.map(({ name }) => name)];
    return Object.fromEntries(names.map((name) => [name, typed[name] ?? ""]));
  };
  const inputOf = (body: Typed) => ({ id: org.id, body: body as Input<"createCredential">["body"] });
  return (
    <ActionDialog
      onClose={onClose}
      title="Add a cloud credential"
      operation="createCredential"
      values={{ name: "", provider: clouds[0]?.provider ?? "", ...emptyFields(clouds) } as Typed}
      input={(typed) => inputOf(given(typed))}
      shownInput={(typed) => inputOf(covered(given(typed), cloudOf(typed)))}
      action="Add credential"
      isReady={(typed) => Object.values(given(typed)).every((text) => text !== "")}
      done={({ name }) => `${name} is stored.`}
    >
      {({ field, values }) => (
        <CredentialFields cloud={cloudOf(values)} field={field}>
          <Select
            label="Provider"
            data={clouds.map(({ provider, name }) => ({ value: provider, label: name }))}
            allowDeselect={false}
            withAsterisk
            {...field("provider")}
          />
        </CredentialFields>
      )}
    </ActionDialog>
  );
}

const emptyFields = (clouds: readonly (CloudProvider | undefined)[]): Typed =>
  Object.fromEntries(clouds.flatMap((cloud) => cloud?.fields ?? []).map(({ name }) => [name, ""]));

/** What is read back whole can be changed. The rest begins empty. */
const readFields = ({ credential, cloud }: OfCloud): Typed => {
  const texts = textsOf(credential);
  const fields = cloud?.fields ?? [];
  return Object.fromEntries(fields.map(({ name, masked }) => [name, masked ? "" : (texts[name] ?? "")]));
};

function ChangeCredential(props: OfCloud & { readonly onClose: () => void }) {
  const { credential, cloud, onClose } = props;
  const before: Typed = { name: credential.name, ...readFields(props) };
  const inputOf = (typed: Typed) => ({ id: credential.id, body: changedFields(before, typed) });
  return (
    <ActionDialog
      onClose={onClose}
      title={`Change ${credential.name}`}
      operation="updateCredential"
      values={before}
      input={inputOf}
      shownInput={(typed) => inputOf(covered(typed, cloud))}
      action="Save"
      isReady={(typed) => Object.keys(changedFields(before, typed)).length > 0}
      consequences={(typed) =>
        secretsOf(cloud).some(({ name }) => typed[name])
          ? [`The next action at ${cloud?.name} uses the new keys. Delete the old ones there afterwards.`]
          : []
      }
      named={[credential]}
      done={({ name }) => `${name} is saved.`}
    >
      {({ field }) => <CredentialFields cloud={cloud} field={field} before={before} />}
    </ActionDialog>
  );
}

/** Browsers have no password field of several lines. */
const COVERED = { input: { WebkitTextSecurity: "disc" } as CSSProperties };

/** The name and the fields of the provider. One that is stored and not shown stays what it is when it is left empty. */
function CredentialFields(props: {
  readonly cloud: CloudProvider | undefined;
  readonly field: Fields<Typed>["field"];
  readonly before?: Typed;
  readonly children?: ReactNode;
}) {
  const { cloud, field, before } = props;
  return (
    <>
      <TextInput label="Name" withAsterisk data-autofocus {...field("name")} />
      {props.children}
      {cloud?.fields.map(({ name, label, secret, multiline, optional, hint, example }) => {
        const stays = before?.[name] === "" && !optional;
        const placeholder = stays ? "Left empty, it stays" : secret ? "" : example;
        const shared = { label, description: hint, placeholder, withAsterisk: !stays && !optional, ...field(name) };
        return multiline ? (
          <Textarea
            key={name}
            autoComplete="off"
            autosize
            minRows={3}
            maxRows={8}
            spellCheck={false}
            {...(secret ? { styles: COVERED } : {})}
            {...shared}
          />
        ) : secret ? (
          <PasswordInput key={name} autoComplete="new-password" {...shared} />
        ) : (
          <TextInput key={name} autoComplete="off" {...shared} />
        );
      })}
    </>
  );
}
