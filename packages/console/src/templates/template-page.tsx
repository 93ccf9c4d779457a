import { type Answer, type ItemOf, NotFound, type TemplateParameter } from "@binnacle/client";
import { Avatar, Badge, Button, Code, Grid, Group, Menu, Stack, Text } from "@mantine/core";
import { IconDots, IconPencil, IconTrash } from "@tabler/icons-react";
import { useNavigate, useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useAll } from "../api/all.runner.ts";
import { useRead } from "../api/queries.runner.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { ButtonLink } from "../components/links.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Moment } from "../components/moment.tsx";
import { Page, Section } from "../components/page.tsx";
import { ShortTable } from "../components/short-table.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { visibleText } from "../components/visible-text.ts";
import { useAccess, useOrg } from "../frame/org.tsx";
import { componentText } from "./component-labels.ts";
import { DeployForm } from "./deploy-form.tsx";
import { lettersOf, mayWrite } from "./gallery.ts";
import { limitsOf } from "./parameters.ts";

type Stored = Answer<"getStackTemplate">;
type Shipped = ItemOf<"browseTemplateRegistry">;

/** A template by its address: a stored one, else the one of the catalog that has it. */
export function TemplatePage() {
  const org = useOrg();
  const { namespace = "", name = "" } = useParams({ strict: false });
  const [search] = usePageSearch();
  const orgId = search["from"] ?? org.id;
  const stored = useRead("getStackTemplate", { namespace, name, org_id: orgId });
  const isMissing = stored.error instanceof NotFound;
  const catalog = useAll("browseTemplateRegistry", { search: name }, isMissing);
  const shipped = catalog.data?.find((each) => each.namespace === namespace && each.name === name);
  // A stored template that is missing is asked for again with each re-read, and the answer before is forgotten meanwhile. The
  // catalog's template stays on screen, or the form would lose what was typed into it.
  const isAskedAgain = stored.data === undefined && stored.errorUpdateCount > 0;
  if (shipped ? isMissing || isAskedAgain : isMissing && catalog.isPending) {
    return (
      <Loaded of={{ ...catalog, data: shipped }}>
        {(template) => <TemplateView template={template} orgId={undefined} />}
      </Loaded>
    );
  }
  return (
    <Loaded of={stored}>
      {(template) => <TemplateView template={template} orgId={orgId} actions={<Actions template={template} />} />}
    </Loaded>
  );
}

function TemplateView(props: {
  readonly template: Stored | Shipped;
  readonly orgId: string | undefined;
  readonly actions?: ReactNode;
}) {
  const { template, orgId } = props;
  const from = "created_at" in template ? template.scope : "catalog";
  return (
    <Page
      title={template.name}
      status={
        <Group gap={6}>
          <Avatar radius="md" color="navy" size={32} aria-hidden>
            {lettersOf(template.name)}
          </Avatar>
          <Badge variant="default" tt="none" radius="sm">
            {template.version}
          </Badge>
          <Badge variant="default" tt="none" radius="sm">
            {from}
          </Badge>
        </Group>
      }
      detail={
        <Stack gap={6}>
          <span style={{ overflowWrap: "anywhere" }}>{visibleText(template.description ?? "No description.")}</span>
          <Group gap={4}>
            {template.tags.map((tag) => (
              <Badge key={tag} variant="default" size="sm" radius="sm" tt="none" fw={400}>
                {tag}
              </Badge>
            ))}
          </Group>
        </Stack>
      }
      actions={props.actions}
    >
      <Grid>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Section title="Deploy">
            {/* The form begins anew when the template's questions change. */}
            <DeployForm key={JSON.stringify(template.parameters)} template={template} orgId={orgId} />
          </Section>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack>
            <Components template={template} />
            <Parameters of={template.parameters} />
            {"created_at" in template ? (
              <Text size="xs" c="dimmed">
                {template.namespace}/{template.name}, created <Moment at={template.created_at} />, changed{" "}
                <Moment at={template.updated_at} />
              </Text>
            ) : null}
          </Stack>
        </Grid.Col>
      </Grid>
    </Page>
  );
}

function Components({ template }: { readonly template: Stored | Shipped }) {
  return (
    <Section title="Components">
      <Stack gap="xs">
        {template.components.map((component) => {
          const { kind, detail } = componentText(component);
          return (
            <div key={component.name}>
              <Group gap={6}>
                <Text size="sm" fw={600}>
                  {component.name}
                </Text>
                <Text size="xs" c="dimmed">
                  {kind}
                  {component.depends_on?.length ? `, after ${component.depends_on.join(", ")}` : ""}
                </Text>
              </Group>
              {detail ? <Code style={{ overflowWrap: "anywhere" }}>{detail}</Code> : null}
            </div>
          );
        })}
      </Stack>
    </Section>
  );
}

function Parameters({ of }: { readonly of: readonly TemplateParameter[] }) {
  if (of.length === 0) return null;
  return (
    <Section title="Parameters">
      <ShortTable
        label="Parameters"
        rows={of}
        keyOf={({ name }) => name}
        columns={[
          { title: "Name", render: ({ name }) => <Code>{name}</Code> },
          { title: "Type", render: ({ type, required }) => `${type}${required ? ", required" : ""}` },
          {
            title: "Default and limits",
            render: (parameter) => (
              <>
                {parameter.generator ? "made up" : `${parameter.default ?? "—"}`}
                <Text size="xs" c="dimmed">
                  {limitsOf(parameter)}
                </Text>
              </>
            ),
          },
        ]}
        empty={null}
      />
    </Section>
  );
}

function Actions({ template }: { readonly template: Stored }) {
  const org = useOrg();
  const access = useAccess();
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const project = useRead("getProject", { id: template.project_id ?? "" }, { enabled: template.project_id !== null });
  if (!mayWrite(template, access, project.data?.cluster_id)) return null;
  const address = `${template.namespace}/${template.name}`;
  return (
    <>
      <ButtonLink
        variant="default"
        leftSection={<IconPencil size={16} aria-hidden />}
        to={`/o/${org.slug}/templates/new`}
        search={{ edit: address, ...(template.org_id === org.id ? {} : { from: template.org_id }) }}
      >
        Edit
      </ButtonLink>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" px="xs" aria-label="More actions">
            <IconDots size={16} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item color="red" leftSection={<IconTrash size={14} aria-hidden />} onClick={() => setDeleting(true)}>
            Delete template
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ActionDialog
        opened={isDeleting}
        onClose={() => setDeleting(false)}
        title={`Delete ${template.name}`}
        operation="deleteStackTemplate"
        input={{ namespace: template.namespace, name: template.name, org_id: template.org_id }}
        action="Delete template"
        typeName={template.name}
        consequences={[
          "Nobody can deploy it any more.",
          "Apps that were deployed from it stay as they are.",
          "It cannot be brought back.",
        ]}
        done={`${template.name} is deleted.`}
        onDone={() => void navigate({ to: `/o/${org.slug}/templates` })}
      />
    </>
  );
}
