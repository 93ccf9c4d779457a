import { Conflict, Forbidden, Invalid, NotFound, type Organization, ServerFault, Unreachable } from "@binnacle/client";
import { Button, Group, Stack, TextInput } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import type { Problems } from "../src/api/failure.ts";
import { ActionDialog } from "../src/components/action-dialog.tsx";
import { binnacleOf } from "../src/components/commands.ts";
import { CopyText } from "../src/components/copy-text.tsx";
import { CreateUser } from "../src/components/create-user.tsx";
import { Dialog } from "../src/components/dialog.tsx";
import { ChoiceFilter, ChoicesFilter, ObjectFilter, SearchFilter } from "../src/components/filters.tsx";
import { OperationForm } from "../src/components/form.tsx";
import { InOwnOrg } from "../src/components/in-own-org.tsx";
import { Later } from "../src/components/later.tsx";
import { ButtonLink, RowLink, TextLink } from "../src/components/links.tsx";
import { Dimmed, ListTable, timeColumn } from "../src/components/list-table.tsx";
import { FailurePanel, Loaded, LoadingLines, PendingCards } from "../src/components/loaded.tsx";
import { Moment } from "../src/components/moment.tsx";
import { Notice } from "../src/components/notice.tsx";
import { EmptyState, Facts, Page, Section } from "../src/components/page.tsx";
import { PageTabs } from "../src/components/page-tabs.tsx";
import { ResourceList, ResourceSection } from "../src/components/resource-list.tsx";
import { SameByCommand } from "../src/components/same-by-command.tsx";
import { ShortTable } from "../src/components/short-table.tsx";
import { TimeChart } from "../src/components/time-chart.tsx";
import { ProjectChoice } from "../src/projects/project-choice.tsx";
import * as status from "../src/status/status.ts";
import { StatusBadge } from "../src/status/status-badge.tsx";
import { AT, STATUS_STORIES, type Story } from "./status-stories.tsx";

export const ORG = { id: "harbour", name: "Harbour", slug: "harbour" } as Organization;
const TONES = Object.keys(status.TONE_COLOR) as status.Tone[];
const nothing = () => {};
const query = { data: undefined, error: null, isPending: false, refetch: nothing };
const facts = { operation: "getApp", requestId: "0193c0de" };

interface Row {
  readonly id: string;
  readonly name: string;
  readonly seen_at: string | null;
}
const ROWS: readonly Row[] = [
  { id: "1", name: "ghcr", seen_at: AT },
  { id: "2", name: `a name that is ${"very ".repeat(20)}long`, seen_at: null },
];
const COLUMNS = [
  { title: "Name", render: ({ name }: { readonly name: string }) => name },
  { title: "Quiet", from: "tablet" as const, render: () => <Dimmed>quiet</Dimmed> },
];
const EMPTY = (
  <EmptyState
    title="No secrets"
    action={<Button variant="light">Add one</Button>}
    command={binnacleOf("updateComponentSecrets", { name: "shop", component: "web", body: { API_KEY: "" } })}
  >
    A secret is a value that is never shown again.
  </EmptyState>
);
const deleteOf = (name: string) => ({
  title: `Delete ${name}`,
  operation: "deleteOrg" as const,
  input: { id: "busy" },
  action: "Delete organization",
  typeName: name,
  consequences: ["Its members lose their access to it.", "While it has clusters, the deletion is refused."],
});

/** Sends the form in it as soon as it is shown. */
function Sent({ children }: { readonly children: ReactNode }) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => frame.current?.querySelector("form")?.requestSubmit(), []);
  return <div ref={frame}>{children}</div>;
}

const Form = (props: { readonly operation: "createOrg" | "updateOrg"; readonly validate?: () => Problems }) => (
  <OperationForm
    {...props}
    values={{ name: "ab", description: "" }}
    input={(body) => ({ id: "harbour", body })}
    action="Save"
  >
    {({ field }) => (
      <>
        <TextInput label="Name" description="People see it in the switcher." withAsterisk {...field("name")} />
        <TextInput label="Description" {...field("description")} />
      </>
    )}
  </OperationForm>
);

export const STORIES: readonly Story[] = [
  ...STATUS_STORIES,
  {
    name: "Notice",
    render: () => (
      <Stack>
        {TONES.map((tone) => (
          <Notice key={tone} tone={tone} title={`A notice that is ${tone}`}>
            A few sentences that must not be missed.
          </Notice>
        ))}
      </Stack>
    ),
  },
  {
    name: "Failures",
    render: () => (
      <Stack>
        {[
          new NotFound("There is no such app.", facts),
          new Forbidden("Only editors may do this.", facts),
          new Conflict("The app is being deleted.", facts),
          new Invalid("name: too short", { ...facts, body: { detail: [] } }),
          new Unreachable("The connection broke off.", facts),
          new ServerFault("The cluster did not answer.", facts),
          new Error("A mistake of the console."),
        ].map((error) => (
          <FailurePanel key={error.message} error={error} onRetry={nothing} />
        ))}
        <FailurePanel error={new Unreachable("The connection broke off.", facts)} isRepeated />
      </Stack>
    ),
  },
  {
    name: "Loading: what stands in for lines and cards",
    render: () => (
      <Stack>
        <LoadingLines />
        <PendingCards height={120} />
      </Stack>
    ),
  },
  { name: "Loaded: waiting", render: () => <Loaded of={query}>{() => null}</Loaded> },
  {
    name: "Loaded: read before, not read again",
    render: () => (
      <Loaded of={{ ...query, data: "The last answer", error: new ServerFault("No.", facts) }}>{(it) => it}</Loaded>
    ),
  },
  {
    name: "Page",
    render: () => (
      <Page
        title="shop"
        status={<StatusBadge status={status.APP_PHASE.running} />}
        detail="In the project harbour"
        actions={<ButtonLink to="/">Edit</ButtonLink>}
      >
        <Section title="Facts" actions={<Button size="xs">Change</Button>}>
          <Facts
            of={[
              ["Created", <Moment key="at" at={AT} />],
              [
                "Address",
                <TextLink key="to" to="/">
                  shop.example.com
                </TextLink>,
              ],
              ["Missing", null],
              [
                "Own organization",
                <InOwnOrg key="own" orgId={ORG.id}>
                  Harbour
                </InOwnOrg>,
              ],
            ]}
          />
        </Section>
        <Section title="Empty">{EMPTY}</Section>
      </Page>
    ),
  },
  {
    name: "Tabs",
    render: () => (
      <PageTabs
        tabs={["Overview", "Logs", "Metrics", "Deployments", "Configuration", "Secrets", "Terminal"].map((label) => ({
          key: label,
          label,
          render: () => label,
        }))}
      />
    ),
  },
  {
    name: "Filters",
    render: () => (
      <Group>
        <SearchFilter label="Filter by name" />
        <ChoiceFilter name="phase" label="Any phase" choices={[{ value: "running", label: "Running" }]} />
        <ChoicesFilter name="phases" label="Any phases" choices={[{ value: "running", label: "Running" }]} />
        <ObjectFilter name="cluster" />
        <Later width={100}>Later</Later>
      </Group>
    ),
  },
  {
    name: "Choice of a project",
    render: () => <ProjectChoice to="createApp" value={null} onChange={nothing} problem="Choose a project." />,
  },
  {
    name: "Commands",
    render: () => (
      <>
        <SameByCommand operation="createOrg" input={{ body: { name: "Harbour" } }} />
        <CopyText text="binnacle" label="Copy the command" />
      </>
    ),
  },
  { name: "Form", render: () => <Form operation="createOrg" /> },
  {
    name: "Form: refused",
    render: () => (
      <Sent>
        <Form operation="createOrg" />
      </Sent>
    ),
  },
  {
    name: "Form: not sent, because a field is wrong",
    render: () => (
      <Sent>
        <Form operation="createOrg" validate={() => ({ name: "Give at least 3 characters." })} />
      </Sent>
    ),
  },
  {
    name: "Form: being sent",
    render: () => (
      <Sent>
        <Form operation="updateOrg" />
      </Sent>
    ),
  },
  {
    name: "Form: refused for another reason",
    render: () => (
      <Sent>
        <OperationForm {...deleteOf("busy")} typeName={undefined} onCancel={nothing} />
      </Sent>
    ),
  },
  {
    name: "Dialog",
    render: () => (
      <Dialog opened onClose={nothing} title="A dialog">
        It says something.
      </Dialog>
    ),
  },
  { name: "Dialog: destructive", render: () => <ActionDialog {...deleteOf("harbour")} onClose={nothing} /> },
  { name: "Dialog: a form", render: () => <CreateUser onClose={nothing} /> },
  {
    name: "List",
    render: () => (
      <ListTable
        label="Organizations"
        operation="listOrgs"
        input={{}}
        sort="name"
        onSort={nothing}
        columns={[
          { title: "Name", sort: "name", render: ({ name }) => <RowLink to="/">{name}</RowLink> },
          timeColumn("Created", "created_at"),
        ]}
        empty={EMPTY}
      />
    ),
  },
  {
    name: "List: empty",
    render: () => (
      <ListTable label="Clusters" operation="listClusters" input={{ org_id: ORG.id }} columns={[]} empty={EMPTY} />
    ),
  },
  {
    name: "List: waiting",
    render: () => <ListTable label="Apps" operation="listApps" input={{}} columns={COLUMNS} empty={EMPTY} />,
  },
  {
    name: "List with actions",
    render: () => (
      <ResourceList
        label="Organizations"
        operation="listOrgs"
        input={{}}
        intro="An organization is the boundary between tenants."
        nameOf={(each) => each.name}
        columns={COLUMNS}
        empty={EMPTY}
        add={{ label: "Create organization", operation: "createOrg", dialog: () => null }}
        menu={(each) => [
          {
            label: "Delete",
            operation: "deleteOrg",
            isDangerous: true,
            dialog: (close) => <ActionDialog {...deleteOf(each.name)} onClose={close} />,
          },
        ]}
      />
    ),
  },
  {
    name: "Section with actions",
    render: () => (
      <ResourceSection
        label="Secrets"
        of={{ ...query, data: { data: ROWS, total_count: ROWS.length } }}
        keyOf={(row) => row.id}
        nameOf={(row) => row.name}
        columns={[...COLUMNS, timeColumn("Seen", "seen_at")]}
        empty={EMPTY}
        add={{ label: "Attach a secret", operation: "createOrg", dialog: () => null }}
        button={() => ({ label: "Remove", operation: "deleteOrg", dialog: () => null })}
      />
    ),
  },
  {
    name: "Short table: empty",
    render: () => <ShortTable label="None" columns={COLUMNS} rows={[]} keyOf={() => ""} empty="There is none." />,
  },
  {
    name: "Chart",
    render: () => (
      <Stack>
        <TimeChart
          title="CPU"
          unit="cores"
          series={["web", "worker"].map((label, at) => ({
            label,
            points: [0, 60, 120].map((seconds) => [1_700_000_000 + seconds, at + seconds / 100] as const),
          }))}
        />
        <TimeChart title="Memory" unit="bytes" series={[]} />
      </Stack>
    ),
  },
];
