import { Conflict, type Input } from "@binnacle/client";
import { type ReactNode, useState } from "react";
import type { Named } from "../components/commands.ts";
import { Dialog } from "../components/dialog.tsx";
import { OperationForm } from "../components/form.tsx";
import { Notice } from "../components/notice.tsx";

type Risky = "updateAddonInstance" | "rollBackAddonInstance";
type Confirmed = { readonly allow_downgrade?: true };

interface Props<N extends Risky> {
  readonly onClose: () => void;
  readonly title: string;
  readonly action: string;
  readonly operation: N;
  readonly input: (confirmed: Confirmed) => Input<N>;
  /** Its name is typed by people who confirm a downgrade. */
  readonly addon: Named;
  readonly children: ReactNode;
}

/**
 * Changes the version of an addon. The server refuses an older version of one that keeps data; the dialog then says what may be
 * lost, and sends the change again with the confirmation.
 */
export function RiskyChange<N extends Risky>(props: Props<N>) {
  const { operation, input, addon, onClose } = props;
  const [refusal, setRefusal] = useState<string | null>(null);
  return (
    <Dialog opened onClose={onClose} title={props.title} size="lg">
      <OperationForm
        // The refusal is said by the notice, so the form that asks for the name begins without it.
        key={refusal}
        operation={operation}
        input={input(refusal === null ? {} : { allow_downgrade: true })}
        action={refusal === null ? props.action : "Downgrade nevertheless"}
        typeName={refusal === null ? undefined : addon.name}
        named={[addon]}
        done={`${addon.name} is being changed.`}
        onCancel={onClose}
        onDone={onClose}
        onFailure={(error) => {
          if (error instanceof Conflict && error.code === "stateful_downgrade") setRefusal(error.message);
        }}
      >
        {props.children}
        {refusal === null ? null : (
          <Notice tone="bad" title="The older version may be unable to read the data">
            {refusal} Take a backup first.
          </Notice>
        )}
      </OperationForm>
    </Dialog>
  );
}
