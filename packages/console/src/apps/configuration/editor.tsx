import { placesIn, type TextProblem } from "@binnacle/manifest/read";
import { Box, List, SimpleGrid, Skeleton, Stack, Text } from "@mantine/core";
import { type ReactNode, useMemo, useState } from "react";
import { binnacleOf } from "../../components/commands.ts";
import { lazily } from "../../components/loaded.tsx";
import { type AppForm, type FormProblem, formText, fromYaml } from "./app-form.ts";
import { ComponentsForm } from "./components-form.tsx";

const YamlEditor = lazily(async () => (await import("./yaml-editor.tsx")).YamlEditor, <Skeleton height={320} />);

export interface Editing {
  readonly text: string;
  /** The value of the text, or of the last text that could be read. */
  readonly form: AppForm;
  readonly problems: readonly TextProblem[];
  /** Whether the text was typed and cannot be read, so that the form shows an older version. */
  readonly isBehind: boolean;
  readonly setText: (text: string) => void;
  readonly setForm: (form: AppForm) => void;
}

/** One value with two views: the text is read after every key, and written anew when the form changes. */
export function useEditing(initial: AppForm): Editing {
  const [state, setState] = useState<Pick<Editing, "text" | "form" | "problems" | "isBehind">>(() => ({
    text: formText(initial),
    form: initial,
    problems: [],
    isBehind: false,
  }));
  return {
    ...state,
    setText: (text) => {
      const { form, problems } = fromYaml(text);
      setState((before) => ({ text, form: form ?? before.form, problems, isBehind: form === null }));
    },
    setForm: (form) => {
      const text = formText(form);
      setState({ text, form, problems: fromYaml(text).problems, isBehind: false });
    },
  };
}

/** The form and the YAML of an app side by side. What the API has said about fields stands at both. */
export function AppEditor(props: {
  readonly editing: Editing;
  /** By paths in the form, as the API has named them. */
  readonly problems: readonly FormProblem[];
  /** Names of components that exist, and keep their names. */
  readonly existing: readonly string[];
  readonly children?: ReactNode;
}) {
  const { editing, problems, existing } = props;
  const { text } = editing;
  const marks = useMemo((): readonly TextProblem[] => {
    if (editing.problems.length > 0) return editing.problems;
    const at = placesIn(text);
    return problems.map(({ path, message }) => ({ ...at(path), message, path }));
  }, [editing.problems, problems, text]);
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
      <Stack gap="md">
        {props.children}
        <Box inert={editing.isBehind} opacity={editing.isBehind ? 0.5 : 1}>
          <ComponentsForm form={editing.form} onChange={editing.setForm} problems={problems} existing={existing} />
        </Box>
        {editing.isBehind ? (
          <Text size="sm" c="var(--tone-warning)" role="status">
            The YAML cannot be read. The form shows the last version that could.
          </Text>
        ) : null}
      </Stack>
      <Stack gap="xs">
        <YamlEditor label="YAML of the app" value={text} onChange={editing.setText} problems={marks} />
        {marks.length > 0 ? <Problems of={marks} text={text} /> : null}
        <Text size="xs" c="dimmed">
          This is the file that <code>{binnacleOf("createApp", {})}</code> takes. Comments are not kept.
        </Text>
      </Stack>
    </SimpleGrid>
  );
}

function Problems({ of, text }: { readonly of: readonly TextProblem[]; readonly text: string }) {
  return (
    <List size="sm" spacing={2} role="alert" c="var(--tone-bad)">
      {of.map(({ from, message }, index) => (
        <List.Item key={index}>
          Line {text.slice(0, from).split("\n").length}: {message}
        </List.Item>
      ))}
    </List>
  );
}
