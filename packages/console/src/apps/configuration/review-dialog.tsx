import { type BinnacleError, PreconditionFailed } from "@binnacle/client";
import { withCoveredSecrets } from "@binnacle/manifest/cover";
import { lineDiff } from "@binnacle/manifest/diff";
import { changeBetween } from "@binnacle/manifest/patch";
import { Alert, Button, Checkbox, Group, Stack, Text, Title } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { useChange } from "../../api/queries.runner.ts";
import { Dialog } from "../../components/dialog.tsx";
import { FailurePanel } from "../../components/loaded.tsx";
import { SameByCommand } from "../../components/same-by-command.tsx";
import { usePageSearch } from "../../components/use-search.tsx";
import { addressOf } from "../app-address.ts";
import { type AppForm, type FormProblem, formText, problemsOf, toForm } from "./app-form.ts";
import { DiffView } from "./diff-view.tsx";
import { rebased } from "./rebase.ts";
import { readVersion, type Version } from "./version.adapter.ts";

const shownText = (form: AppForm): string => formText(withCoveredSecrets(form));

/** What the API asks to be confirmed, by the code of its refusal. */
const CONFIRMATIONS = {
  recreate_required: { field: "recreate", label: "Create the component anew, and lose the data of its volumes" },
  stateful_downgrade: {
    field: "allow_downgrade",
    label: "Allow the older version, which may be unable to read the data",
  },
} as const;

/**
 * Shows what changes before anything is sent. The request says which version it is about; where somebody else has changed the app
 * meanwhile, both versions are shown and the person chooses.
 */
export function ReviewDialog(props: {
  readonly base: Version;
  readonly form: AppForm;
  readonly onClose: () => void;
  readonly onProblems: (problems: readonly FormProblem[]) => void;
  /** Called before the page is left, because nothing is lost any more. */
  readonly onSent: () => void;
  readonly onReplace: (version: Version) => void;
}) {
  const { base, form, onClose, onProblems, onReplace } = props;
  const [, choose] = usePageSearch();
  const change = useChange("updateApp");
  const [confirmed, setConfirmed] = useState<Readonly<Record<string, boolean>>>({});
  const [theirs, setTheirs] = useState<Version | null>(null);
  const original = toForm(base.app);
  const plan = changeBetween(original, form, confirmed);
  const asked = CONFIRMATIONS[(change.error?.code ?? "") as keyof typeof CONFIRMATIONS];
  const input = { ...addressOf(base.app), body: plan.body ?? {} };

  async function send(to: Version, wanted: AppForm): Promise<void> {
    const sent = changeBetween(toForm(to.app), wanted, confirmed);
    if (sent.body === null) return onReplace(to);
    try {
      await change.mutateAsync({
        ...addressOf(to.app),
        body: sent.body,
        ...(to.etag ? { $options: { ifMatch: to.etag } } : {}),
      });
      notifications.show({ message: `${to.app.name} is being changed.`, color: "green" });
      props.onSent();
      onClose();
      choose({ tab: undefined });
    } catch (error) {
      if (error instanceof PreconditionFailed) setTheirs(await readVersion(to.app).catch(() => null));
      const problems = problemsOf(error, sent.indexes);
      if (problems.length > 0) onProblems(problems);
    }
  }

  if (theirs)
    return (
      <ConflictDialog
        base={base}
        theirs={theirs}
        form={form}
        error={change.error}
        isSending={change.isPending}
        onMine={(wanted) => void send(theirs, wanted)}
        onTheirs={() => onReplace(theirs)}
        onClose={onClose}
      />
    );
  return (
    <Dialog opened onClose={onClose} title="Review changes" size="xl">
      <Stack gap="md">
        <DiffView label="Changes" lines={lineDiff(shownText(original), shownText(form))} />
        {change.error ? <FailurePanel error={change.error} /> : null}
        {asked ? (
          <Checkbox
            label={asked.label}
            checked={confirmed[asked.field] ?? false}
            onChange={(event) => setConfirmed({ ...confirmed, [asked.field]: event.currentTarget.checked })}
          />
        ) : null}
        <SameByCommand operation="updateApp" input={input} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Back to editing
          </Button>
          <Button onClick={() => void send(base, form)} loading={change.isPending} data-autofocus>
            Deploy changes
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

function ConflictDialog(props: {
  readonly base: Version;
  readonly theirs: Version;
  readonly form: AppForm;
  readonly error: BinnacleError | null;
  readonly isSending: boolean;
  readonly onMine: (wanted: AppForm) => void;
  readonly onTheirs: () => void;
  readonly onClose: () => void;
}) {
  const { base, theirs, form, error } = props;
  const [original, present] = [toForm(base.app), toForm(theirs.app)];
  const { form: merged, overlaps } = rebased(original, form, present);
  return (
    <Dialog opened onClose={props.onClose} title="Somebody else has changed the app" size="xl">
      <Stack gap="md">
        <Text size="sm">
          Since you began, generation {base.app.generation} has become {theirs.app.generation}. Nothing of yours was
          sent.
        </Text>
        <Title order={3} size="h4">
          Their changes
        </Title>
        <DiffView label="Their changes" lines={lineDiff(shownText(original), shownText(present))} />
        <Title order={3} size="h4">
          Your changes, on top of theirs
        </Title>
        <DiffView label="Your changes on top of theirs" lines={lineDiff(shownText(present), shownText(merged))} />
        {overlaps.length > 0 ? (
          <Alert color="yellow" p="xs" title="Both of you have changed the same">
            <Text size="sm">Yours would replace theirs in: {overlaps.join(", ")}.</Text>
          </Alert>
        ) : null}
        {error && !(error instanceof PreconditionFailed) ? <FailurePanel error={error} /> : null}
        <Group justify="flex-end">
          <Button variant="default" onClick={props.onClose}>
            Back to editing
          </Button>
          <Button variant="default" onClick={props.onTheirs}>
            Take theirs, discard mine
          </Button>
          <Button onClick={() => props.onMine(merged)} loading={props.isSending}>
            Deploy mine on top
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
