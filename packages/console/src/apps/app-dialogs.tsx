import { type App, attachmentChange, standsFor } from "@binnacle/client";
import { Checkbox, Select, Switch, Text, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useRead } from "../api/queries.runner.ts";
import { useOrg } from "../frame/org.tsx";
import { ActionDialog } from "../parts/action-dialog.tsx";
import { templateAddress } from "../parts/addresses.ts";
import { Loaded } from "../parts/loaded.tsx";
import { addressOf, cliName } from "./app-address.ts";
import { attachedInstances } from "./components.ts";
import { consequencesOf } from "./deletion.ts";

interface Props {
  readonly app: App;
  readonly onClose: () => void;
}

const SIMPLE = {
  pause: {
    operation: "pauseApp",
    title: "Pause",
    consequences: ["All workloads are scaled to 0 and answer no more.", "Volumes, secrets and addresses stay."],
    done: "is being paused.",
    command: "pause",
  },
  resume: {
    operation: "resumeApp",
    title: "Resume",
    consequences: ["All workloads get the number of replicas back that they had."],
    done: "is being resumed.",
    command: "resume",
  },
  redeploy: {
    operation: "redeployApp",
    title: "Redeploy",
    consequences: ["What is recorded is applied again, as a new revision.", "Nothing in the configuration changes."],
    done: "is being deployed again.",
    command: "redeploy",
  },
  take_over: {
    operation: "redeployApp",
    title: "Take over fields",
    consequences: [
      "The fields that another manager holds are set to what the app asks for.",
      "The other manager loses these fields. If it sets them again, the conflict comes back.",
    ],
    done: "takes the fields over.",
    command: "redeploy",
  },
} as const;

export function SimpleDialog({ kind, app, onClose }: Props & { readonly kind: keyof typeof SIMPLE }) {
  const { operation, title, consequences, done, command } = SIMPLE[kind];
  const isForced = kind === "take_over";
  return (
    <ActionDialog
      opened
      onClose={onClose}
      title={`${title}: ${app.name}`}
      operation={operation}
      input={{ ...addressOf(app), ...(isForced ? { body: { force: true } } : {}) }}
      action={title}
      consequences={consequences}
      command={`binnacle apps ${command} ${cliName(app)}${isForced ? " --force" : ""}`}
      done={`${app.name} ${done}`}
    />
  );
}

/** Names everything that goes, as the cluster itself lists it, before it asks for the name. */
export function DeleteDialog({ app, onClose, onDeleted }: Props & { readonly onDeleted: () => void }) {
  const preview = useRead("previewAppDeletion", addressOf(app));
  return (
    <ActionDialog
      opened
      onClose={onClose}
      title={`Delete ${app.name}`}
      operation="deleteApp"
      input={addressOf(app)}
      action="Delete app"
      typeName={app.name}
      consequences={preview.data ? consequencesOf(preview.data) : []}
      isReady={!preview.isPending}
      command={`binnacle apps delete ${cliName(app)}`}
      done={`${app.name} is being deleted.`}
      onAnswer={onDeleted}
    >
      <Loaded of={preview}>
        {({ volumes_known, message }) =>
          volumes_known ? (
            <Text size="sm">This cannot be undone. With the app go:</Text>
          ) : (
            <Text size="sm" c="var(--tone-warning)">
              The cluster has not answered, so there may be more than is listed. {message}
            </Text>
          )
        }
      </Loaded>
    </ActionDialog>
  );
}

const MOST_INSTANCES = 100;

function useInstances(app: App) {
  return useRead("listAddonInstances", { project_id: app.project_id, items_per_page: MOST_INSTANCES });
}

export function AttachDialog({ app, onClose }: Props) {
  const instances = useInstances(app);
  const [id, setId] = useState<string | null>(null);
  const [component, setComponent] = useState<string | null>(null);
  const workloads = app.components.filter(({ workload_spec }) => workload_spec).map(({ name }) => name);
  const [addsComponent, setAddsComponent] = useState(true);
  const name = instances.data?.data.find((each) => each.id === id)?.name;
  const lacksComponent = name !== undefined && !standsFor(app, name);
  const isAdding = lacksComponent && addsComponent;
  const shared = {
    opened: true,
    onClose,
    title: `Attach an addon to ${app.name}`,
    action: "Attach",
    isReady: id !== null,
    command: `binnacle apps attach-addon ${cliName(app)} ${name ?? "<addon>"}${component ? ` --component ${component}` : ""}${lacksComponent && !addsComponent ? " --no-add" : ""}`,
  };
  const fields = (
    <Loaded of={instances}>
      {({ data }) =>
        data.length === 0 ? (
          <Text size="sm">The project has no addon instance. Create one on the page Addons first.</Text>
        ) : (
          <>
            <Select
              label="Addon instance"
              description="Its exports become variables of the components."
              data={data.map((each) => ({ value: each.id, label: each.name }))}
              value={id}
              onChange={setId}
              searchable
              data-autofocus
            />
            <Select
              label="Component"
              placeholder="Every workload"
              data={workloads}
              value={component}
              onChange={setComponent}
              clearable
            />
            {lacksComponent ? (
              <Checkbox
                label={`Add the component ${name}, which stands for the addon instance`}
                description="Without a component of this name the app cannot run."
                checked={addsComponent}
                onChange={(event) => setAddsComponent(event.currentTarget.checked)}
              />
            ) : null}
          </>
        )
      }
    </Loaded>
  );
  if (isAdding) {
    const body = { components: attachmentChange(app, name, component) };
    const done = `${name} is attached to ${app.name}, which is being deployed.`;
    return (
      <ActionDialog {...shared} operation="updateApp" input={{ ...addressOf(app), body }} done={done}>
        {fields}
      </ActionDialog>
    );
  }
  const body = { addon_instance_id: id ?? "", ...(component ? { component_name: component } : {}) };
  return (
    <ActionDialog
      {...shared}
      operation="attachAddon"
      input={{ ...addressOf(app), body }}
      {...(lacksComponent ? {} : { done: `${name} is attached to ${app.name}, which is being deployed.` })}
    >
      {fields}
    </ActionDialog>
  );
}

export function DetachDialog({ app, onClose }: Props) {
  const instances = useInstances(app);
  const attached = attachedInstances(app.components);
  const [id, setId] = useState<string | null>(null);
  const chosen = instances.data?.data.find((each) => each.id === id);
  const losing = (chosen && attached.get(chosen.name)) ?? [];
  return (
    <ActionDialog
      opened
      onClose={onClose}
      title={`Detach an addon from ${app.name}`}
      operation="detachAddon"
      input={{ ...addressOf(app), addon_instance_id: id ?? "" }}
      action="Detach"
      isReady={id !== null}
      consequences={losing.map((component) => `${component} loses the variables of the addon and is restarted.`)}
      command={`binnacle apps detach-addon ${cliName(app)} ${chosen?.name ?? "<addon>"}`}
      done={`${chosen?.name} is detached from ${app.name}.`}
    >
      <Loaded of={instances}>
        {({ data }) => {
          const choices = data.filter(({ name }) => attached.has(name));
          return choices.length === 0 ? (
            <Text size="sm">No addon instance is attached to the app.</Text>
          ) : (
            <Select
              label="Addon instance"
              data={choices.map((each) => ({ value: each.id, label: each.name }))}
              value={id}
              onChange={setId}
              data-autofocus
            />
          );
        }}
      </Loaded>
    </ActionDialog>
  );
}

const SCOPES = [
  { value: "project", label: "Whoever has a role in the project" },
  { value: "cluster", label: "Whoever has a role on the cluster" },
  { value: "organization", label: "All members of the organization" },
] as const;

export function TemplateDialog({ app, onClose }: Props) {
  const org = useOrg();
  const navigate = useNavigate();
  const [name, setName] = useState(app.name);
  const [description, setDescription] = useState(app.description ?? "");
  const [scope, setScope] = useState<(typeof SCOPES)[number]["value"]>("project");
  const [keepsRefs, setKeepsRefs] = useState(false);
  return (
    <ActionDialog
      opened
      onClose={onClose}
      title={`Save ${app.name} as a template`}
      operation="createStackTemplateFromApp"
      input={{
        ...addressOf(app),
        body: { name, scope, ...(description ? { description } : {}), preserve_export_refs: keepsRefs },
      }}
      action="Save template"
      isReady={name !== ""}
      command={`binnacle templates from-app ${cliName(app)} ${name}`}
      done={`The template ${name} is saved.`}
      onDone={(template) => void navigate({ to: templateAddress(org.slug, template.namespace, template.name) })}
    >
      <TextInput label="Name of the template" value={name} onChange={(event) => setName(event.currentTarget.value)} />
      <TextInput
        label="Description"
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <Select
        label="Who sees it"
        data={[...SCOPES]}
        value={scope}
        onChange={(value) => setScope((value ?? "project") as typeof scope)}
        allowDeselect={false}
      />
      <Switch
        label="Keep references to addons of this project"
        checked={keepsRefs}
        onChange={(event) => setKeepsRefs(event.currentTarget.checked)}
      />
      <Text size="xs" c="dimmed">
        Values of secrets are never part of a template; they become parameters.
      </Text>
    </ActionDialog>
  );
}
