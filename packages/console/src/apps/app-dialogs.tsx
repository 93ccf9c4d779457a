import { type App, attachmentChange, standsFor } from "@binnacle/client";
import { Checkbox, Select, Switch, Text, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useRead } from "../api/queries.runner.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { templateAddress } from "../components/addresses.ts";
import { binnacleOf } from "../components/commands.ts";
import { Dialog } from "../components/dialog.tsx";
import { OperationForm } from "../components/form.tsx";
import { Loaded } from "../components/loaded.tsx";
import { useOrg } from "../frame/org.tsx";
import { addressOf } from "./app-address.ts";
import { AttachOutcome } from "./attach-outcome.tsx";
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
  },
  resume: {
    operation: "resumeApp",
    title: "Resume",
    consequences: ["All workloads get the number of replicas back that they had."],
    done: "is being resumed.",
  },
  redeploy: {
    operation: "redeployApp",
    title: "Redeploy",
    consequences: ["What is recorded is applied again, as a new revision.", "Nothing in the configuration changes."],
    done: "is being deployed again.",
  },
  take_over: {
    operation: "redeployApp",
    title: "Take over fields",
    consequences: [
      "The fields that another manager holds are set to what the app asks for.",
      "The other manager loses these fields. If it sets them again, the conflict comes back.",
    ],
    done: "takes the fields over.",
  },
} as const;

export function SimpleDialog({ kind, app, onClose }: Props & { readonly kind: keyof typeof SIMPLE }) {
  const { operation, title, consequences, done } = SIMPLE[kind];
  const isForced = kind === "take_over";
  return (
    <ActionDialog
      onClose={onClose}
      title={`${title}: ${app.name}`}
      operation={operation}
      input={{ ...addressOf(app), ...(isForced ? { body: { force: true } } : {}) }}
      action={title}
      consequences={consequences}
      done={`${app.name} ${done}`}
    />
  );
}

/** Names everything that goes, as the cluster itself lists it, before it asks for the name. */
export function DeleteDialog({ app, onClose, onDeleted }: Props & { readonly onDeleted: () => void }) {
  const preview = useRead("previewAppDeletion", addressOf(app));
  return (
    <ActionDialog
      onClose={onClose}
      title={`Delete ${app.name}`}
      operation="deleteApp"
      input={addressOf(app)}
      action="Delete app"
      typeName={app.name}
      consequences={preview.data ? consequencesOf(preview.data) : []}
      isReady={!preview.isPending}
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
  const [made, setMade] = useState<{ readonly instance: string; readonly revision: number } | null>(null);
  const name = instances.data?.data.find((each) => each.id === id)?.name;
  const lacksComponent = name !== undefined && !standsFor(app, name);
  const isAdding = lacksComponent && addsComponent;
  const attached = {
    ...addressOf(app),
    body: { addon_instance_id: id ?? "", ...(component ? { component_name: component } : {}) },
  };
  const withComponent = () => ({
    ...addressOf(app),
    body: { components: attachmentChange(app, name ?? "", component) },
  });
  // The command adds the component too, unless it is told not to.
  const command = binnacleOf("attachAddon", attached, instances.data?.data);
  return (
    <Dialog opened onClose={onClose} title={`Attach an addon to ${app.name}`} size="lg">
      {made ? (
        <AttachOutcome app={app} {...made} />
      ) : (
        <OperationForm<"updateApp" | "attachAddon", object>
          onCancel={onClose}
          onDone={({ revision }) => setMade({ instance: name ?? "", revision })}
          operation={isAdding ? "updateApp" : "attachAddon"}
          input={isAdding ? withComponent() : attached}
          action="Attach"
          isReady={id !== null}
          command={lacksComponent && !addsComponent ? `${command} --no-add` : command}
        >
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
        </OperationForm>
      )}
    </Dialog>
  );
}

export function DetachDialog({ app, onClose }: Props) {
  const instances = useInstances(app);
  const attached = attachedInstances(app.components);
  const nameOf = (typed: { readonly id: string | null }) =>
    instances.data?.data.find(({ id }) => id === typed.id)?.name ?? "<addon>";
  return (
    <ActionDialog
      onClose={onClose}
      title={`Detach an addon from ${app.name}`}
      operation="detachAddon"
      values={{ id: null as string | null }}
      input={({ id }) => ({ ...addressOf(app), addon_instance_id: id ?? "" })}
      action="Detach"
      isReady={({ id }) => id !== null}
      consequences={(typed) =>
        (attached.get(nameOf(typed)) ?? []).map(
          (component) => `${component} loses the variables of the addon and is restarted.`,
        )
      }
      named={instances.data?.data}
      done={(typed) => `${nameOf(typed)} is detached from ${app.name}.`}
    >
      {({ field }) => (
        <Loaded of={instances}>
          {({ data }) => {
            const choices = data.filter(({ name }) => attached.has(name));
            return choices.length === 0 ? (
              <Text size="sm">No addon instance is attached to the app.</Text>
            ) : (
              <Select
                label="Addon instance"
                data={choices.map(({ id, name }) => ({ value: id, label: name }))}
                data-autofocus
                {...field("id")}
              />
            );
          }}
        </Loaded>
      )}
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
  return (
    <ActionDialog
      onClose={onClose}
      title={`Save ${app.name} as a template`}
      operation="createStackTemplateFromApp"
      values={{
        name: app.name,
        description: app.description ?? "",
        scope: "project" as (typeof SCOPES)[number]["value"],
        preserve_export_refs: false,
      }}
      input={({ description, ...typed }) => ({
        ...addressOf(app),
        body: { ...typed, ...(description ? { description } : {}) },
      })}
      action="Save template"
      isReady={({ name }) => name !== ""}
      done={({ name }) => `The template ${name} is saved.`}
      onDone={(template) => void navigate({ to: templateAddress(org.slug, template.namespace, template.name) })}
    >
      {({ field, check }) => (
        <>
          <TextInput label="Name of the template" {...field("name")} />
          <TextInput label="Description" {...field("description")} />
          <Select label="Who sees it" data={[...SCOPES]} allowDeselect={false} {...field("scope")} />
          <Switch label="Keep references to addons of this project" {...check("preserve_export_refs")} />
          <Text size="xs" c="dimmed">
            Values of secrets are never part of a template; they become parameters.
          </Text>
        </>
      )}
    </ActionDialog>
  );
}
