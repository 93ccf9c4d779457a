import type { Input, OrgSettings } from "@binnacle/client";
import { Button, Code, Group, Radio, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { failureView } from "../api/failure.ts";
import { useChange, useRead } from "../api/queries.runner.ts";
import { Allowed, useMay, useOrg } from "../frame/org.tsx";
import { ActionDialog, SameByCommand } from "../parts/action-dialog.tsx";
import { CopyText } from "../parts/copy-text.tsx";
import { FailurePanel, Loaded } from "../parts/loaded.tsx";
import { Moment } from "../parts/moment.tsx";
import { Facts, Page, Section } from "../parts/page.tsx";

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
  const change = useChange("updateOrg");
  const navigate = useNavigate();
  const [name, setName] = useState(org.name);
  const [description, setDescription] = useState(org.description ?? "");
  const problems = change.error ? failureView(change.error).fields : {};
  const input = { id: org.id, body: { name, description: description === "" ? null : description } };

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault();
    try {
      const { slug } = await change.mutateAsync(input);
      notifications.show({ message: "The organization is saved.", color: "green" });
      if (slug !== org.slug) await navigate({ to: `/o/${slug}/settings`, replace: true });
    } catch {
      // The error is on screen.
    }
  }

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
    <form onSubmit={(event) => void save(event)}>
      <Stack gap="sm">
        <TextInput
          label="Name"
          description="Its address follows the name, so links to the old one end."
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={problems["name"]}
          required
        />
        <Textarea
          label="Description"
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
          error={problems["description"]}
          autosize
          minRows={2}
        />
        {facts}
        {change.error ? <FailurePanel error={change.error} /> : null}
        <SameByCommand
          operation="updateOrg"
          input={input}
          command={`binnacle orgs update ${org.slug} --name "${name}"`}
        />
        <Group justify="flex-end">
          <Button
            type="submit"
            loading={change.isPending}
            disabled={name === "" || (name === org.name && description === (org.description ?? ""))}
          >
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

type DriftPolicy = NonNullable<OrgSettings["drift_policy"]>;

function SettingsForm({ settings }: { readonly settings: OrgSettings }) {
  const org = useOrg();
  const mayChange = useMay()("updateOrgSettings");
  const change = useChange("updateOrgSettings");
  const [policy, setPolicy] = useState<DriftPolicy>(settings.drift_policy ?? "heal");
  const [repo, setRepo] = useState(settings.gitops?.repo_url ?? "");
  const [branch, setBranch] = useState(settings.gitops?.branch ?? "");
  const problems = change.error ? failureView(change.error).fields : {};
  const { drift_policy: _policy, gitops: _gitops, ...others } = settings;

  const changed: Input<"updateOrgSettings">["body"]["settings"] = {
    ...(policy === (settings.drift_policy ?? "heal") ? {} : { drift_policy: policy }),
    ...(repo === (settings.gitops?.repo_url ?? "") && branch === (settings.gitops?.branch ?? "")
      ? {}
      : { gitops: repo === "" ? null : { repo_url: repo, ...(branch ? { branch } : {}) } }),
  };
  const isChanged = Object.keys(changed).length > 0;
  const input = { org_id: org.id, body: { settings: changed } };

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (!isChanged) return;
    try {
      await change.mutateAsync(input);
      notifications.show({ message: "The settings are saved.", color: "green" });
    } catch {
      // The error is on screen.
    }
  }

  return (
    <form onSubmit={(event) => void save(event)}>
      <Stack>
        <Radio.Group
          label="When somebody changes an object on a cluster by hand"
          value={policy}
          onChange={(value) => setPolicy(value as DriftPolicy)}
          error={problems["settings.drift_policy"]}
          readOnly={!mayChange}
        >
          <Stack gap="xs" mt="xs">
            <Radio value="heal" label="Put it back as it was asked for (the default)" disabled={!mayChange} />
            <Radio value="report" label="Report the drift, and leave the object as it is" disabled={!mayChange} />
          </Stack>
        </Radio.Group>
        <Group grow align="flex-start">
          <TextInput
            label="GitOps repository"
            description="Where clusters find their state in Git; empty for none."
            placeholder="git@git.example.com:platform/clusters.git"
            value={repo}
            onChange={(event) => setRepo(event.currentTarget.value)}
            error={problems["settings.gitops.repo_url"]}
            disabled={!mayChange}
            autoComplete="off"
          />
          <TextInput
            label="Branch"
            description="The repository's own where left empty."
            placeholder="main"
            value={branch}
            onChange={(event) => setBranch(event.currentTarget.value)}
            error={problems["settings.gitops.branch"]}
            disabled={!mayChange}
            autoComplete="off"
          />
        </Group>
        {Object.keys(others).length > 0 ? (
          <div>
            <Text size="sm" fw={500}>
              Other settings
            </Text>
            <Code block>{JSON.stringify(others, null, 2)}</Code>
          </div>
        ) : null}
        {change.error ? <FailurePanel error={change.error} /> : null}
        {mayChange ? (
          <>
            <SameByCommand
              operation="updateOrgSettings"
              input={input}
              command={`binnacle orgs settings update --org ${org.slug} --drift-policy ${policy}`}
            />
            <Group justify="flex-end">
              <Button type="submit" disabled={!isChanged} loading={change.isPending}>
                Save
              </Button>
            </Group>
          </>
        ) : null}
      </Stack>
    </form>
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
        command={`binnacle orgs delete ${org.slug}`}
        done={`${org.name} is deleted.`}
        onDone={() => void navigate({ to: "/" })}
      />
    </Section>
  );
}
