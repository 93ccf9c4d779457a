import type { CallName } from "@binnacle/client";
import { Dialog } from "./dialog.tsx";
import { type FormProps, OperationForm } from "./form.tsx";

interface Props<N extends CallName, V extends object> extends Omit<FormProps<N, V>, "onCancel"> {
  readonly opened?: boolean;
  readonly onClose: () => void;
  readonly title: string;
}

/** Asks before an action and sends it. What is typed goes when the dialog is closed. */
export function ActionDialog<N extends CallName, V extends object>(props: Props<N, V>) {
  const { opened = true, onClose, title, onDone, ...form } = props;
  return (
    <Dialog opened={opened} onClose={onClose} title={title} size="lg">
      <OperationForm
        {...form}
        onCancel={onClose}
        onDone={(answer, state) => {
          onClose();
          onDone?.(answer, state);
        }}
      />
    </Dialog>
  );
}
