import type { Credential, CredentialCheck } from "@binnacle/client";
import { Alert, List, Text } from "@mantine/core";
import { useState } from "react";
import { Dialog } from "../components/dialog.tsx";
import { OperationForm } from "../components/form.tsx";
import { checkLines } from "./credential-labels.ts";

/** Asks the provider whether a credential suffices, before anything is made with it. */
export function CheckCredential({
  credential,
  onClose,
}: {
  readonly credential: Credential;
  readonly onClose: () => void;
}) {
  const [check, setCheck] = useState<CredentialCheck | null>(null);
  return (
    <Dialog opened onClose={onClose} title={`Check ${credential.name}`} size="lg">
      <OperationForm
        operation="checkCredential"
        input={{ id: credential.id }}
        action={check ? "Check again" : "Check now"}
        named={[credential]}
        onDone={setCheck}
        onFailure={() => setCheck(null)}
      >
        <Text size="sm">
          The provider is asked who this is, what it may do and how much of the quotas is left. Nothing is created.
        </Text>
        {check ? <CheckResult check={check} /> : null}
      </OperationForm>
    </Dialog>
  );
}

function CheckResult({ check }: { readonly check: CredentialCheck }) {
  const { title, lines } = checkLines(check);
  return (
    <Alert color={check.ok ? "green" : "red"} title={title} role="status">
      <List size="sm" spacing={4}>
        {lines.map((line) => (
          <List.Item key={line} style={{ overflowWrap: "anywhere" }}>
            {line}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
