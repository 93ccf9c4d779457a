import type { Answer, CallName, Input } from "@binnacle/client";
import { Button, Code, Collapse, Group, List, Stack, Text, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { type FormEvent, type ReactNode, useState } from "react";
import { failureView } from "../api/failure.ts";
import { useChange } from "../api/queries.runner.ts";
import { curlOf } from "./commands.ts";
import { CopyText } from "./copy-text.tsx";
import { Dialog } from "./dialog.tsx";
import { FailurePanel } from "./loaded.tsx";

interface Props<N extends CallName> {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly operation: N;
  readonly input: Input<N>;
  /** The words of the button, such as "Delete app". */
  readonly action: string;
  /** The fields of the dialog. As a function, it is given the messages of a refused call by the dotted path of the field. */
  readonly children?: ReactNode | ((problems: Readonly<Record<string, string>>) => ReactNode);
  /** Each thing that will happen, in words. */
  readonly consequences?: readonly ReactNode[];
  /** A destructive action asks for this name to be typed. */
  readonly typeName?: string;
  /** The command of `binnacle` that does the same. */
  readonly command?: string;
  readonly done?: string;
  readonly isReady?: boolean;
  /** Called when the API has agreed, before what is on screen is read again. */
  readonly onAnswer?: () => void;
  readonly onDone?: (answer: Answer<N>) => void;
}

/**
 * Asks before an action and sends it. It says what will happen, shows progress until the API has answered, and shows the
 * commands that do the same.
 */
export function ActionDialog<N extends CallName>(props: Props<N>) {
  const { opened, onClose, title, operation, input, action, typeName, isReady = true } = props;
  const change = useChange(operation, props.onAnswer);
  const [typed, setTyped] = useState("");
  const isConfirmed = isReady && (typeName === undefined || typed === typeName);

  function close(): void {
    setTyped("");
    change.reset();
    onClose();
  }

  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    // React passes the event on to a form in which the dialog is declared, although it stands elsewhere in the document.
    event.stopPropagation();
    if (!isConfirmed || change.isPending) return;
    try {
      const answer = await change.mutateAsync(input);
      close();
      if (props.done) notifications.show({ message: props.done, color: "green" });
      props.onDone?.(answer);
    } catch {
      // The error is on screen, and the dialog stays open for another try.
    }
  }

  return (
    <Dialog opened={opened} onClose={close} title={title} size="lg">
      <form onSubmit={(event) => void send(event)}>
        <Stack gap="md">
          {typeof props.children === "function"
            ? props.children(change.error ? failureView(change.error).fields : {})
            : props.children}
          {props.consequences && props.consequences.length > 0 ? (
            <List size="sm" spacing={4}>
              {props.consequences.map((line, index) => (
                <List.Item key={index}>{line}</List.Item>
              ))}
            </List>
          ) : null}
          {typeName === undefined ? null : (
            <TextInput
              label={
                <>
                  Type <Code>{typeName}</Code> to confirm
                </>
              }
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
          )}
          {change.error ? <FailurePanel error={change.error} /> : null}
          <SameByCommand operation={operation} input={input} command={props.command} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button
              type="submit"
              color={typeName === undefined ? "navy" : "red"}
              loading={change.isPending}
              disabled={!isConfirmed}
            >
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

/** The `binnacle` and `curl` commands of a call, folded away until somebody wants them. */
export function SameByCommand(props: {
  readonly operation: CallName;
  readonly input: object;
  readonly command?: string | undefined;
}) {
  const [isOpen, setOpen] = useState(false);
  const commands = [props.command, curlOf(location.origin, props.operation, props.input as Record<string, unknown>)];
  return (
    <div>
      <Button variant="subtle" color="gray" size="compact-xs" onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
        {isOpen ? "Hide the commands" : "The same by command"}
      </Button>
      <Collapse expanded={isOpen}>
        <Stack gap="xs" mt="xs">
          {commands.map((command) =>
            command === undefined ? null : (
              <Group key={command} gap={4} wrap="nowrap" align="flex-start">
                <Code block style={{ flex: 1, whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
                  {command}
                </Code>
                <CopyText text={command} label="Copy the command" />
              </Group>
            ),
          )}
          <Text size="xs" c="dimmed">
            Secrets are left out; fill them in yourself.
          </Text>
        </Stack>
      </Collapse>
    </div>
  );
}
