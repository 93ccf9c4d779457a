import { commandLine } from "@binnacle/cli/command-line";
import type { AttentionItem, AuditEntry, OrgOverview } from "@binnacle/client";
import { Card, Group, SimpleGrid, Skeleton, Stack, Text } from "@mantine/core";
import { IconCircleCheck } from "@tabler/icons-react";
import { Fragment, useDeferredValue } from "react";
import { useRead } from "../api/queries.runner.ts";
import { Fleet } from "../clusters/fleet.tsx";
import { binnacleOf } from "../components/commands.ts";
import { ButtonLink, TextLink, useRowLinks } from "../components/links.tsx";
import { LOADING, Loaded } from "../components/loaded.tsx";
import { Moment } from "../components/moment.tsx";
import { EmptyState, Page, Section } from "../components/page.tsx";
import { useMay, useOrg } from "../frame/org.tsx";
import { stringifySearch } from "../search.ts";
import { APP_PHASE, type StatusView } from "../status/status.ts";
import { StatusBadge, ToneIcon } from "../status/status-badge.tsx";
import { activityText, attentionView } from "./attention.ts";
import classes from "./overview-page.module.css";

/** What is not right, and since when; then the fleet, the apps, and who did what lately. */
export function OverviewPage() {
  const org = useOrg();
  const may = useMay();
  const overview = useRead("getOrgOverview", { id: org.id }, { refetchMs: 30_000 });
  // What has come is drawn in steps between which the page answers to the keyboard and the mouse.
  const data = useDeferredValue(overview.data);
  return (
    <Page title="Overview">
      <Loaded of={{ ...overview, data }} skeleton={<Skeletons />}>
        {(read) => (
          <>
            {read.clusters.total === 0 ? <FirstSteps /> : null}
            <div className={read.clusters.total === 0 ? undefined : classes.columns}>
              {read.clusters.total === 0 ? null : <Shown overview={read} />}
              {may("listAuditLog") ? (
                <div className={classes.activity}>
                  <Activity />
                </div>
              ) : null}
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Skeletons() {
  return (
    <Stack {...LOADING}>
      <Skeleton height={180} />
      <Skeleton height={160} />
      <Skeleton height={120} />
    </Stack>
  );
}

function FirstSteps() {
  const org = useOrg();
  const may = useMay();
  return (
    <Card>
      <EmptyState
        title="Begin with a cluster"
        action={may("createCluster") ? <ButtonLink to={`/o/${org.slug}/clusters/new`}>Add cluster</ButtonLink> : null}
        command={commandLine("createCluster", { org_id: org.slug, body: { name: "production" } })}
      >
        Connect a Kubernetes cluster with one command. Projects and apps come next.
      </EmptyState>
    </Card>
  );
}

/** In a wide window the map and the apps stand beside what needs attention, so that one sees all of them at once. */
function Shown({ overview }: { readonly overview: OrgOverview }) {
  const org = useOrg();
  return (
    <>
      <div className={classes.attention}>
        <Attention attention={overview.attention} />
      </div>
      <div className={classes.fleet}>
        <Section
          title="Apps"
          actions={<TextLink to={`/o/${org.slug}/apps`}>{`All ${overview.apps.total.toLocaleString()}`}</TextLink>}
        >
          <Apps apps={overview.apps} />
        </Section>
        <Section
          title="Clusters"
          actions={
            <TextLink to={`/o/${org.slug}/clusters`}>{`All ${overview.clusters.total.toLocaleString()}`}</TextLink>
          }
        >
          <Fleet orgId={org.id} count={overview.clusters.total} />
        </Section>
      </div>
    </>
  );
}

function Attention({ attention }: { readonly attention: OrgOverview["attention"] }) {
  const { total, items } = attention;
  const listed = items.reduce((sum, { others }) => sum + 1 + others, 0);
  const links = useRowLinks();
  return (
    <Section title={total === 0 ? "Attention" : `Attention: ${total.toLocaleString()}`}>
      {total === 0 ? (
        <Group gap="xs" role="status">
          <IconCircleCheck size={18} color="var(--tone-good)" aria-hidden />
          <Text size="sm">Nothing needs your attention.</Text>
        </Group>
      ) : (
        <ul className={classes.list} {...links}>
          {items.map((item) => (
            <AttentionRow key={`${item.kind} ${item.id} ${item.reason}`} item={item} />
          ))}
          {total > listed ? (
            <li className={classes.more}>
              {(total - listed).toLocaleString()} more are not listed; the lists of apps and clusters filter by status.
            </li>
          ) : null}
        </ul>
      )}
    </Section>
  );
}

function AttentionRow({ item }: { readonly item: AttentionItem }) {
  const org = useOrg();
  const { status, title, others, cause, action } = attentionView(item, org.slug);
  return (
    <li className={classes.item}>
      <div className={classes.status}>
        <StatusBadge status={status} />
      </div>
      <div className={classes.words}>
        <div className={classes.title}>{title}</div>
        <div className={classes.cause} title={cause}>
          {cause}
        </div>
        {others.length === 0 ? null : (
          <div className={classes.others}>
            {"Also "}
            {others.map(({ name, to, search }, index) => (
              <Fragment key={to + stringifySearch(search)}>
                {index === 0 ? "" : ", "}
                <a href={to + stringifySearch(search)}>{name}</a>
              </Fragment>
            ))}
            {item.others > others.length ? ` and ${(item.others - others.length).toLocaleString()} more` : ""}
          </div>
        )}
      </div>
      <div className={classes.since}>{item.since ? <Moment at={item.since} /> : null}</div>
      <a href={action.to + stringifySearch(action.search)} className={classes.action}>
        {action.label}
      </a>
    </li>
  );
}

function Apps({ apps }: { readonly apps: OrgOverview["apps"] }) {
  const org = useOrg();
  const counts = Object.entries(APP_PHASE).flatMap(([phase, status]) => {
    // Those that are held up are counted by themselves.
    const count = apps.by_phase[phase as keyof typeof apps.by_phase] - (phase === "deploying" ? apps.held_up : 0);
    return count > 0 ? [{ key: phase, status, count, search: { phase } }] : [];
  });
  const heldUp = {
    key: "held_up",
    status: { tone: "warning", word: "Held up" } satisfies StatusView,
    count: apps.held_up,
    search: { phase: "deploying" },
  };
  const drift: readonly { key: string; status: StatusView; count: number; search: Record<string, string> }[] = [
    {
      key: "blocked",
      status: { tone: "bad", word: "Blocked" },
      count: apps.blocked,
      search: { drift: "blocked_sync" },
    },
    { key: "drifted", status: { tone: "warning", word: "Drifted" }, count: apps.drifted, search: { drift: "drifted" } },
  ];
  const shown = [...counts, ...[heldUp, ...drift].filter(({ count }) => count > 0)];
  if (shown.length === 0) {
    return (
      <EmptyState
        title="No apps yet"
        action={
          <ButtonLink to={`/o/${org.slug}/apps/new`} variant="light">
            Create app
          </ButtonLink>
        }
        command={binnacleOf("createApp", {})}
      >
        An app is a set of components that run together in a project.
      </EmptyState>
    );
  }
  return (
    <Stack gap="sm">
      <SimpleGrid
        cols={{ base: 2, xs: 3, md: 6, lg: 3 }}
        spacing="xs"
        component="ul"
        m={0}
        p={0}
        style={{ listStyle: "none" }}
      >
        {shown.map(({ key, status, count, search }) => (
          <Card key={key} px="sm" py={6} component="li">
            <Text fz={20} fw={650} lh={1.2} style={{ fontVariantNumeric: "tabular-nums" }}>
              {count.toLocaleString()}
            </Text>
            <Group gap={6} wrap="nowrap">
              <ToneIcon {...status} />
              <TextLink to={`/o/${org.slug}/apps`} search={search}>
                {status.word}
              </TextLink>
            </Group>
          </Card>
        ))}
      </SimpleGrid>
      {apps.stale > 0 ? (
        <Text size="sm" c="var(--tone-warning)">
          {apps.stale === 1 ? "1 of them is on a cluster" : `${apps.stale.toLocaleString()} of them are on clusters`}{" "}
          not heard of: {apps.stale === 1 ? "this is its" : "these are their"} last known phase.
        </Text>
      ) : null}
    </Stack>
  );
}

/** More entries are read than are shown, because sign-ins are left out. */
const ENTRIES_READ = 50;
const ENTRIES_SHOWN = 8;

const recent = (entries: readonly AuditEntry[]): readonly AuditEntry[] =>
  entries.filter(({ resource }) => resource.type !== "session").slice(0, ENTRIES_SHOWN);

function Activity() {
  const org = useOrg();
  const log = useRead("listAuditLog", { id: org.id, items_per_page: ENTRIES_READ });
  return (
    <Section title="Recent activity" actions={<TextLink to={`/o/${org.slug}/audit`}>Audit log</TextLink>}>
      <Loaded of={log}>
        {({ data }) => (
          <Stack gap={6} component="ul" m={0} p={0} style={{ listStyle: "none" }}>
            {recent(data).map(({ id, at, actor, action, resource, summary }) => (
              <Group key={id} component="li" gap="xs" justify="space-between" wrap="nowrap">
                <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                  <Text span inherit fw={600}>
                    {actor.email ?? "The system"}
                  </Text>{" "}
                  {activityText(action)} {resource.type.replaceAll("_", " ")} {resource.name ?? ""}
                  {summary === null ? null : (
                    <Text span display="block" size="xs" c="dimmed">
                      {summary}
                    </Text>
                  )}
                </Text>
                <Text size="xs" c="dimmed">
                  <Moment at={at} />
                </Text>
              </Group>
            ))}
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}
