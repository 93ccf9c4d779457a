import type { App } from "@binnacle/client";
import { changeBetween } from "@binnacle/manifest/patch";
import { Alert, Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useBlocker } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { CopyText } from "../../components/copy-text.tsx";
import { Loaded, LoadingLines, lazily } from "../../components/loaded.tsx";
import { Section } from "../../components/page.tsx";
import { useMay } from "../../frame/org.tsx";
import { obstacle, stateOf } from "../app-action.ts";
import { type FormProblem, formText, toForm } from "./app-form.ts";
import { AppEditor, useEditing } from "./editor.tsx";
import { ReviewDialog } from "./review-dialog.tsx";
import { readVersion, type Version } from "./version.adapter.ts";

const YamlEditor = lazily(async () => (await import("./yaml-editor.tsx")).YamlEditor, <Skeleton height={320} />);

/** The configuration as a form and as YAML. Those who may not change it read the YAML. */
export function ConfigurationTab({ app }: { readonly app: App }) {
  const may = useMay();
  const place = { clusterId: app.cluster_id, projectId: app.project_id };
  const why = obstacle("edit", stateOf(app));
  if (!may("updateApp", place) || why !== null) return <ReadOnly app={app} why={why} />;
  return <Editable key={app.id} app={app} />;
}

function ReadOnly({ app, why }: { readonly app: App; readonly why: string | null }) {
  const text = formText(toForm(app));
  return (
    <Section title="Configuration" actions={<CopyText text={text} label="Copy the YAML" />}>
      {why ? (
        <Text size="sm" c="var(--tone-warning)" mb="xs">
          {why}
        </Text>
      ) : null}
      <YamlEditor label="YAML of the app" value={text} problems={[]} isReadOnly />
    </Section>
  );
}

/** The version that editing begins with is read once, with its tag, and is not replaced while somebody edits it. */
function Editable({ app }: { readonly app: App }) {
  const version = useQuery<Version>({
    queryKey: ["configuration", app.id],
    queryFn: ({ signal }) => readVersion(app, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    enabled: (query) => query.state.data === undefined,
  });
  const [replaced, setReplaced] = useState<Version | null>(null);
  return (
    <Loaded of={version} skeleton={<LoadingLines lines={10} />}>
      {(first) => {
        const base = replaced ?? first;
        return (
          <Editor
            key={`${base.app.generation}/${base.etag}`}
            base={base}
            newest={app}
            onReplace={(next) => setReplaced(next)}
          />
        );
      }}
    </Loaded>
  );
}

interface EditorProps {
  readonly base: Version;
  /** The app as it is now, which may have changed since editing began. */
  readonly newest: App;
  readonly onReplace: (version: Version) => void;
}

function NewerVersion({ base, newest, onReplace, isChanged }: EditorProps & { readonly isChanged: boolean }) {
  if (newest.generation <= base.app.generation) return null;
  return (
    <Alert color="yellow" p="xs" title="The app has changed meanwhile">
      <Group gap="sm">
        <Text size="sm">
          You edit generation {base.app.generation}, and it has {newest.generation} now.{" "}
          {isChanged ? "Your changes can still be sent: both versions are shown before." : ""}
        </Text>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => void readVersion(newest).then(onReplace, () => undefined)}
        >
          {isChanged ? "Discard mine and load it" : "Load it"}
        </Button>
      </Group>
    </Alert>
  );
}

function Editor(props: EditorProps) {
  const { base, onReplace } = props;
  const original = toForm(base.app);
  const editing = useEditing(original);
  const [isReviewing, setReviewing] = useState(false);
  const isSent = useRef(false);
  const [problems, setProblems] = useState<readonly FormProblem[]>([]);
  const change = changeBetween(original, editing.form);
  const isChanged = change.body !== null;
  const shown = [...change.problems, ...problems];
  const isUnsent = isChanged || editing.isBehind;
  useBlocker({
    shouldBlockFn: () => isUnsent && !isSent.current && !window.confirm("Leave without deploying your changes?"),
    enableBeforeUnload: () => isUnsent && !isSent.current,
  });
  return (
    <Stack gap="md">
      <NewerVersion {...props} isChanged={isChanged} />
      <AppEditor editing={editing} problems={shown} existing={original.components.map(({ name }) => name)} />
      <Group
        gap="sm"
        p="sm"
        style={{
          position: "sticky",
          bottom: 0,
          background: "var(--page-background)",
          borderTop: "1px solid var(--mantine-color-default-border)",
          zIndex: 2,
        }}
      >
        <Button
          onClick={() => {
            setProblems([]);
            setReviewing(true);
          }}
          disabled={!isChanged || editing.problems.length > 0 || change.problems.length > 0}
        >
          Review changes
        </Button>
        <Button
          variant="default"
          disabled={editing.text === formText(original)}
          onClick={() => {
            editing.setForm(original);
            setProblems([]);
          }}
        >
          Discard
        </Button>
        <Text size="sm" c="dimmed" role="status">
          {isChanged ? "Nothing is sent before you have reviewed it." : "Nothing has been changed."}
        </Text>
      </Group>
      {isReviewing ? (
        <ReviewDialog
          base={base}
          form={editing.form}
          onClose={() => setReviewing(false)}
          onProblems={(found) => {
            setProblems(found);
            setReviewing(false);
          }}
          onSent={() => {
            isSent.current = true;
          }}
          onReplace={onReplace}
        />
      ) : null}
    </Stack>
  );
}
