import type { Answer, CallName } from "@binnacle/client";
import { Button, Code, Group, List, Stack, TextInput } from "@mantine/core";
import { type GetInputPropsReturnType, type UseFormReturnType, useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { type FormEvent, type ReactNode, useState } from "react";
import { failureView, type Problems, placeErrors, unprefixed } from "../api/failure.ts";
import { type ChangeInput, useChange } from "../api/queries.runner.ts";
import type { Named } from "./commands.ts";
import { FailurePanel } from "./loaded.tsx";
import { SameByCommand } from "./same-by-command.tsx";

/** A value, or how it follows from what is typed. */
type From<V, T> = T | ((values: V) => T);

/** The dotted paths of the values. */
type Path<V> = {
  [K in keyof V & string]:
    | K
    | (V[K] extends readonly unknown[] ? never : V[K] extends object ? `${K}.${Path<V[K]>}` : never);
}[keyof V & string];

export interface Fields<V> {
  /** Value, handler and error of an input. */
  readonly field: (path: Path<V>) => GetInputPropsReturnType;
  /** The same for a checkbox or a switch. */
  readonly check: (path: Path<V>) => GetInputPropsReturnType;
  readonly values: V;
  readonly set: (values: Partial<V>) => void;
  /** The messages about the entries of a map, by their keys. */
  readonly problemsIn: (map: keyof V & string) => Problems;
}

export interface FormProps<N extends CallName, V extends object> {
  readonly operation: N;
  /** What the fields begin with. They are named as in the API, so that its errors find their field. */
  readonly values?: V;
  readonly input: From<V, ChangeInput<N>>;
  /** The input in the commands, where it has secrets that the names of their fields do not give away. */
  readonly shownInput?: From<V, ChangeInput<N>>;
  /** What can be said before anything is sent, by the dotted path of the field. It is shown from the first try on. */
  readonly validate?: (values: V) => Problems;
  /** The label of the button, such as "Delete app". Null shows the fields to those who may not send them. */
  readonly action: string | null;
  readonly icon?: ReactNode;
  readonly children?: ReactNode | ((fields: Fields<V>) => ReactNode);
  /** Each thing that will happen, as a sentence. */
  readonly consequences?: From<V, readonly ReactNode[]>;
  /** A destructive action asks for this name to be typed. */
  readonly typeName?: string | undefined;
  /** What the input holds by its id; commands call it by its name. The organization of the address is known. */
  readonly named?: readonly Named[] | undefined;
  /** The command of `binnacle`, where another one than that of the operation does the same. */
  readonly command?: From<V, string | null>;
  /** Off where the commands would show a secret. */
  readonly hasCommands?: boolean;
  readonly isReady?: From<V, boolean>;
  /** Names fields of the API as the form has them, where the two differ. */
  readonly renameErrors?: (fields: Problems) => Problems;
  /** The message after a success. */
  readonly done?: From<V, string> | undefined;
  /** A form with a way out has a button for it. */
  readonly onCancel?: () => void;
  /** Called when the API has agreed, before what is on screen is read again. */
  readonly onAnswer?: () => void;
  readonly onDone?: (answer: Answer<N>, form: UseFormReturnType<V>) => void;
  readonly onFailure?: (error: unknown, form: UseFormReturnType<V>) => void;
}

/** The values that are others than before: the body of a request that changes nothing else. */
export const changedFields = <V extends object>(before: V, after: V): Partial<V> =>
  Object.fromEntries(Object.entries(after).filter(([key, value]) => value !== before[key as keyof V])) as Partial<V>;

/** The state of a form, what it would send now, and the way to send it. */
function useOperation<N extends CallName, V extends object>(props: FormProps<N, V>) {
  const change = useChange(props.operation, props.onAnswer);
  const form = useForm<V>({
    initialValues: props.values ?? ({} as V),
    // An answer about values that have changed since says nothing any more.
    onValuesChange: () => change.error && change.reset(),
  });
  const { values } = form;
  const from = <T,>(given: From<V, T>): T =>
    typeof given === "function" ? (given as (values: V) => T)(values) : given;
  const input = from(props.input);
  const [isTried, setTried] = useState(false);
  const problems = props.validate?.(values) ?? {};
  const errors = (isTried ? { ...form.errors, ...problems } : form.errors) as Problems;
  const placed = (error: unknown) => {
    const { fields } = failureView(error);
    return placeErrors(props.renameErrors?.(fields) ?? fields, values);
  };

  async function send(): Promise<void> {
    form.clearErrors();
    setTried(true);
    if (Object.keys(problems).length > 0) return;
    try {
      const answer = await change.mutateAsync(input);
      if (props.done !== undefined) notifications.show({ message: from(props.done), color: "green" });
      props.onDone?.(answer, form);
    } catch (error) {
      // First, because a field that it changes loses its error.
      props.onFailure?.(error, form);
      form.setErrors(placed(error).fields);
    }
  }

  const fields: Fields<V> = {
    field: (path) => ({ ...form.getInputProps(path as never), error: errors[path] }),
    check: (path) => form.getInputProps(path as never, { type: "checkbox" }),
    values,
    set: (changed) => form.setValues(changed),
    problemsIn: (map) => unprefixed(map, errors),
  };
  return { change, fields, from, input, placed, send };
}

/**
 * A form over one operation of the API. It shows progress until the API has answered, errors at the fields that they are about,
 * and the commands that do the same.
 */
export function OperationForm<N extends CallName, V extends object>(props: FormProps<N, V>) {
  const { operation, action, named, command, hasCommands = true, typeName, onCancel } = props;
  const { change, fields, from, input, placed, send } = useOperation(props);
  const [typed, setTyped] = useState("");
  const isReady = from(props.isReady ?? true) && (typeName === undefined || typed === typeName);

  function submit(event: FormEvent): void {
    event.preventDefault();
    // React passes the event on to a form in which a dialog is declared, although it stands elsewhere in the document.
    event.stopPropagation();
    if (isReady && !change.isPending) void send();
  }

  return (
    <form onSubmit={submit} noValidate={props.validate !== undefined}>
      <Stack gap="md">
        {typeof props.children === "function" ? props.children(fields) : props.children}
        <Consequences of={from(props.consequences ?? [])} />
        {typeName === undefined ? null : <TypedName name={typeName} typed={typed} onChange={setTyped} />}
        {change.error ? <FailurePanel error={change.error} detail={detailBeside(placed(change.error))} /> : null}
        {action === null || !hasCommands ? null : (
          <SameByCommand
            operation={operation}
            input={from(props.shownInput ?? input)}
            named={named}
            command={command === undefined ? undefined : from(command)}
          />
        )}
        {action === null ? null : (
          <Group justify={onCancel ? "flex-end" : "flex-start"}>
            {onCancel ? (
              <Button variant="default" onClick={onCancel}>
                Cancel
              </Button>
            ) : null}
            <Button
              type="submit"
              leftSection={props.icon}
              color={typeName === undefined ? "navy" : "red"}
              loading={change.isPending}
              disabled={!isReady}
            >
              {action}
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}

/** The message beside errors that fields show; undefined where none does, and the API's own message is needed. */
function detailBeside({ fields, rest }: ReturnType<typeof placeErrors>): string | undefined {
  if (Object.keys(fields).length === 0) return undefined;
  return rest.length > 0 ? rest.join(" ") : "See the fields that are marked.";
}

function Consequences({ of }: { readonly of: readonly ReactNode[] }) {
  if (of.length === 0) return null;
  return (
    <List size="sm" spacing={4}>
      {of.map((line, index) => (
        <List.Item key={index}>{line}</List.Item>
      ))}
    </List>
  );
}

function TypedName(props: {
  readonly name: string;
  readonly typed: string;
  readonly onChange: (typed: string) => void;
}) {
  return (
    <TextInput
      label={
        <>
          Type <Code>{props.name}</Code> to confirm
        </>
      }
      value={props.typed}
      onChange={(event) => props.onChange(event.currentTarget.value)}
      data-autofocus
    />
  );
}
