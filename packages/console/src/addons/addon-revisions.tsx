import type { AddonInstance, AddonRevision } from "@binnacle/client";
import { Button, Group, Select, Stack, Text, Timeline } from "@mantine/core";
import { useState } from "react";
import { useAll } from "../api/all.runner.ts";
import { Loaded } from "../components/loaded.tsx";
import { Moment } from "../components/moment.tsx";
import { Section } from "../components/page.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { ChangeTable } from "./change-table.tsx";
import { RiskyChange } from "./risky-change.tsx";
import { diffValues } from "./value-diff.ts";

interface Props {
  readonly addon: AddonInstance;
  readonly mayChange: boolean;
}

/** The revisions of an instance, the differences between any two, and the way back to one. */
export function AddonRevisions({ addon, mayChange }: Props) {
  const revisions = useAll("listAddonRevisions", { id: addon.id });
  const [rolling, setRolling] = useState<AddonRevision | null>(null);
  return (
    <Loaded of={revisions}>
      {(all) => (
        <Stack>
          <Compare revisions={all} />
          <Section title="Revisions">
            <Timeline bulletSize={18} lineWidth={2} active={-1}>
              {all.map((revision, index) => {
                const earlier = all[index + 1];
                const isCurrent = revision.revision_number === addon.revision_number;
                return (
                  <Timeline.Item
                    key={revision.revision_id}
                    title={`Revision ${revision.revision_number}${isCurrent ? ", in force" : ""}`}
                  >
                    <Text size="xs" c="dimmed">
                      <Moment at={revision.created_at} /> by {revision.created_by ?? "the system"}, chart{" "}
                      {revision.chart_version}
                    </Text>
                    {revision.notes ? (
                      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                        {revision.notes}
                      </Text>
                    ) : null}
                    <Text size="sm">{earlier ? changeText(earlier, revision) : "The first one."}</Text>
                    {mayChange && !isCurrent ? (
                      <Button size="compact-xs" variant="default" mt={4} onClick={() => setRolling(revision)}>
                        Roll back to {revision.revision_number}
                      </Button>
                    ) : null}
                  </Timeline.Item>
                );
              })}
            </Timeline>
          </Section>
          {rolling ? (
            <RiskyChange
              onClose={() => setRolling(null)}
              title={`Roll ${addon.name} back to revision ${rolling.revision_number}`}
              action="Roll back"
              operation="rollBackAddonInstance"
              input={(confirmed) => ({
                id: addon.id,
                body: { revision_number: rolling.revision_number, ...confirmed },
              })}
              addon={addon}
            >
              <Text size="sm">
                A new revision with the values and the version of revision {rolling.revision_number} is made. Secrets
                stay as they are, and so does the data.
              </Text>
              {rolling.chart_version === addon.chart_version ? null : (
                <Text size="sm">
                  The chart goes from {addon.chart_version} to {rolling.chart_version}.
                </Text>
              )}
              <ChangeTable changes={diffValues(addon.values, rolling.values)} />
            </RiskyChange>
          ) : null}
        </Stack>
      )}
    </Loaded>
  );
}

function changeText(before: AddonRevision, after: AddonRevision): string {
  const count = diffValues(before.values, after.values).length;
  const parts = [
    before.chart_version === after.chart_version ? "" : `chart ${before.chart_version} to ${after.chart_version}`,
    count === 0 ? "" : `${count} ${count === 1 ? "value" : "values"} changed`,
  ];
  return parts.filter(Boolean).join(", ") || "No values changed; a secret may have.";
}

function Compare({ revisions }: { readonly revisions: readonly AddonRevision[] }) {
  const [search, choose] = usePageSearch();
  const data = revisions.map(({ revision_number }) => String(revision_number));
  const find = (text: string | undefined) => revisions.find(({ revision_number }) => String(revision_number) === text);
  const after = find(search["to"]) ?? revisions[0];
  const before = find(search["from"]) ?? revisions[1];
  if (!after || !before) return null;
  return (
    <Section
      title="Compare"
      actions={
        <Group gap="xs">
          <Select
            aria-label="From revision"
            size="xs"
            w={90}
            data={data}
            value={String(before.revision_number)}
            onChange={(from) => choose({ from: from ?? undefined })}
            allowDeselect={false}
          />
          <Text size="sm">to</Text>
          <Select
            aria-label="To revision"
            size="xs"
            w={90}
            data={data}
            value={String(after.revision_number)}
            onChange={(to) => choose({ to: to ?? undefined })}
            allowDeselect={false}
          />
        </Group>
      }
    >
      {before.chart_version === after.chart_version ? null : (
        <Text size="sm" mb="xs">
          Chart {before.chart_version} to {after.chart_version}
        </Text>
      )}
      <ChangeTable changes={diffValues(before.values, after.values)} />
    </Section>
  );
}
