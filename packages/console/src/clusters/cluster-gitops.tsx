import type { Answer, Cluster } from "@binnacle/client";
import { Anchor, Code, Text } from "@mantine/core";
import { useRead } from "../api/queries.runner.ts";
import { Moment } from "../components/moment.tsx";
import { Facts, Section } from "../components/page.tsx";
import type { StatusView } from "../status/status.ts";
import { StatusBadge } from "../status/status-badge.tsx";

type Gitops = Answer<"getClusterGitops">;

/** No event says that a commit was written. */
const REFETCH_MS = 10_000;

const STATES: Readonly<Record<Gitops["state"], StatusView>> = {
  off: { tone: "unknown", word: "Off" },
  waiting: { tone: "unknown", word: "Not written yet", sign: "waiting" },
  in_sync: { tone: "good", word: "In sync" },
  pending: { tone: "progress", word: "Being written" },
  failing: { tone: "bad", word: "Failing" },
  ahead: { tone: "warning", word: "Changed by somebody else" },
  unknown: { tone: "unknown", word: "Not seen for hours" },
};

/** How far the desired state of a cluster has been written to Git. Nothing is shown where it is not. */
export function ClusterGitops({ cluster }: { readonly cluster: Cluster }) {
  const { data: gitops } = useRead("getClusterGitops", { id: cluster.id }, { refetchMs: REFETCH_MS });
  if (!gitops || gitops.state === "off") return null;
  const { head, pending, error, observed_at } = gitops;
  return (
    <Section title="Git">
      <Facts
        of={[
          ["State", <StatusBadge key="state" status={STATES[gitops.state]} />],
          ["Repository", gitops.url ? <Code key="url">{gitops.url}</Code> : "not made yet"],
          ["Written", head ? <Head key="head" head={head} /> : "nothing yet"],
          ["Head seen", observed_at ? <Moment key="seen" at={observed_at} /> : "not yet"],
          [
            "Waiting",
            pending.since ? (
              <Text key="pending" size="sm" component="span">
                {pending.changes} changes, since <Moment at={pending.since} />
              </Text>
            ) : (
              "nothing"
            ),
          ],
          ...(gitops.foreign_head
            ? ([["Commit of somebody else", <Code key="foreign">{gitops.foreign_head}</Code>]] as const)
            : []),
          ...(error ? ([["Last error", error.message]] as const) : []),
        ]}
      />
    </Section>
  );
}

function Head({ head }: { readonly head: NonNullable<Gitops["head"]> }) {
  const id = <Code>{head.id.slice(0, 12)}</Code>;
  return (
    <Text size="sm" component="span">
      {head.url ? (
        <Anchor href={head.url} target="_blank" rel="noreferrer">
          {id}
        </Anchor>
      ) : (
        id
      )}{" "}
      at revision {head.revision}, <Moment at={head.at} />
    </Text>
  );
}
