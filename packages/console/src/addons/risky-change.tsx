import { Conflict, type Input } from "@binnacle/client";
import { Button, Code, Group, Stack, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { type FormEvent, type ReactNode, useState } from "react";
import { useChange } from "../api/queries.runner.ts";
import { SameByCommand } from "../parts/action-dialog.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { FailurePanel } from "../parts/loaded.tsx";
import { Notice } from "../parts/notice.tsx";

type Risky = "updateAddonInstance" | "rollBackAddonInstance";
type Confirmed = { readonly allow_downgrade?: true };

interface Props<N extends Risky> {
  readonly onClose: () => void;
  readonly title: string;
  readonly action: string;
  readonly operation: N;
  readonly input: (confirmed: Confirmed) => Input<N>;
  /** Typed by people who confirm a downgrade. */
  readonly name: string;
  readonly command: string;
  readonly children: ReactNode;
}

/**
 * Changes the version of an addon. The server refuses an older version of one that keeps data; the dialog then says what may be
 * lost, and sends the change again with the confirmation.
 */
export function RiskyChange<N extends Risky>(props: Props<N>) {
  const change = useChange(props.operation);
  const [isGuarded, setGuarded] = useState(false);
  const [typed, setTyped] = useState("");
  const confirmed: Confirmed = isGuarded ? { allow_downgrade: true } : {};
  const isReady = !isGuarded || typed === props.name;

  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (!isReady || change.isPending) return;
    try {
      await change.mutateAsync(props.input(confirmed));
      notifications.show({ message: `${props.name} is being changed.`, color: "green" });
      props.onClose();
    } catch (error) {
      if (error instanceof Conflict && error.code === "stateful_downgrade") setGuarded(true);
    }
  }

  const refusal = change.error instanceof Conflict && change.error.code === "stateful_downgrade" ? change.error : null;
  return (
    <Dialog opened onClose={props.onClose} title={props.title} size="lg">
      <form onSubmit={(event) => void send(event)}>
        <Stack>
          {props.children}
          {isGuarded ? (
            <>
              <Notice tone="bad" title="The older version may be unable to read the data">
                {refusal?.message ?? "It keeps data, and the version would be an older one."} Take a backup first.
              </Notice>
              <TextInput
                label={
                  <>
                    Type <Code>{props.name}</Code> to go on nevertheless
                  </>
                }
                value={typed}
                onChange={(event) => setTyped(event.currentTarget.value)}
                autoComplete="off"
              />
            </>
          ) : null}
          {change.error && !refusal ? <FailurePanel error={change.error} /> : null}
          <SameByCommand operation={props.operation} input={props.input(confirmed)} command={props.command} />
          <Group justify="flex-end">
            <Button variant="default" onClick={props.onClose}>
              Cancel
            </Button>
            <Button type="submit" color={isGuarded ? "red" : "navy"} disabled={!isReady} loading={change.isPending}>
              {isGuarded ? "Downgrade nevertheless" : props.action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
