import type { Input, OrgSettings } from "@binnacle/client";
import { Button, Code, Group, Radio, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useRead } from "../api/queries.runner.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { CopyText } from "../components/copy-text.tsx";
import { changedFields, OperationForm } from "../components/form.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Moment } from "../components/moment.tsx";
import { Facts, Page, Section } from "../components/page.tsx";
import { Allowed, useMay, useOrg } from "../frame/org.tsx";
import { GitopsSettings } from "./gitops-settings.tsx";

/** The settings of the organization, its name, and its end. */
export function SettingsPage() {
  const org = useOrg();
  const settings = useRead("getOrgSettings", { org_id: org.id });
  return (
    <Page title="Settings">
      <Stack maw={800}>
        <Section title="Organization">
          <NameForm key={org.updated_at} />
        </Section>
        <Section title="Behaviour">
          <Loaded of={settings}>
            {(record) => <SettingsForm key={JSON.stringify(record)} settings={record.settings} />}
          </Loaded>
        </Section>
        <Section title="GitOps">
          <Loaded of={settings}>
            {({ settings: { gitops = null } }) => <GitopsSettings key={JSON.stringify(gitops)} gitops={gitops} />}
          </Loaded>
        </Section>
        <Allowed to="deleteOrg">
          <DangerZone />
        </Allowed>
      </Stack>
    </Page>
  );
}

function NameForm() {
  const org = useOrg();
  const mayChange = useMay()("updateOrg");
  const navigate = useNavigate();
  const before = { name: org.name, description: org.description ?? "" };
  const facts = (
    <Facts
      of={[
        ...(mayChange
          ? []
          : ([
              ["Name", org.name],
              ["Description", org.description],
            ] as const)),
        ["Address", <Code key="slug">{org.slug}</Code>],
        [
          "Id",
          <Group key="id" gap={4}>
            <Code>{org.id}</Code>
            <CopyText text={org.id} label="Copy the id" />
          </Group>,
        ],
        ["Created", <Moment key="created" at={org.created_at} />],
      ]}
    />
  );
  if (!mayChange) return facts;
  return (
    <OperationForm
      operation="updateOrg"
      values={before}
      input={({ name, description }) => ({ id: org.id, body: { name, ...(description ? { description } : {}) } })}
      action="Save"
      isReady={(typed) => typed.name !== "" && Object.keys(changedFields(before, typed)).length > 0}
      done="The organization is saved."
      onDone={({ slug }) => {
        if (slug !== org.slug) void navigate({ to: `/o/${slug}/settings`, replace: true });
      }}
    >
      {({ field }) => (
        <>
          <TextInput
            label="Name"
            description="Its address follows the name, so links to the old one end."
            required
            {...field("name")}
          />
          <Textarea label="Description" autosize minRows={2} {...field("description")} />
          {facts}
        </>
      )}
    </OperationForm>
  );
}

function SettingsForm({ settings }: { readonly settings: OrgSettings }) {
  const org = useOrg();
  const mayChange = useMay()("updateOrgSettings");
  const { drift_policy = "heal", gitops: _apart, ...others } = settings;
  const before = { drift_policy };
  const changed = (typed: typeof before): Input<"updateOrgSettings">["body"]["settings"] =>
    changedFields(before, typed);
  return (
    <OperationForm
      operation="updateOrgSettings"
      values={{ settings: before }}
      input={(typed) => ({ org_id: org.id, body: { settings: changed(typed.settings) } })}
      action={mayChange ? "Save" : null}
      isReady={(typed) => Object.keys(changed(typed.settings)).length > 0}
      done="The settings are saved."
    >
      {({ field }) => (
        <>
          <Radio.Group
            label="When somebody changes an object on a cluster by hand"
            readOnly={!mayChange}
            {...field("settings.drift_policy")}
          >
            <Stack gap="xs" mt="xs">
              <Radio value="heal" label="Put it back as it was asked for (the default)" disabled={!mayChange} />
              <Radio value="report" label="Report the drift, and leave the object as it is" disabled={!mayChange} />
            </Stack>
          </Radio.Group>
          {Object.keys(others).length > 0 ? (
            <div>
              <Text size="sm" fw={500}>
                Other settings
              </Text>
              <Code block>{JSON.stringify(others, null, 2)}</Code>
            </div>
          ) : null}
        </>
      )}
    </OperationForm>
  );
}

function DangerZone() {
  const org = useOrg();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  return (
    <Section title="Danger zone">
      <Group justify="space-between">
        <Text size="sm">Delete the organization. It has to be without clusters.</Text>
        <Button color="red" variant="light" onClick={() => setOpen(true)}>
          Delete organization
        </Button>
      </Group>
      <ActionDialog
        opened={isOpen}
        onClose={() => setOpen(false)}
        title={`Delete ${org.name}`}
        operation="deleteOrg"
        input={{ id: org.id }}
        action="Delete organization"
        typeName={org.name}
        consequences={[
          "Its members lose their access to it.",
          "Its templates, credentials, chart repositories and settings are deleted.",
          "While it has clusters, the deletion is refused. Delete them first.",
        ]}
        done={`${org.name} is deleted.`}
        onDone={() => void navigate({ to: "/" })}
      />
    </Section>
  );
}
