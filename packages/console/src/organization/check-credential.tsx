import type { Credential, CredentialCheck } from "@binnacle/client";
import { Alert, Button, Group, List, Stack, Text } from "@mantine/core";
import { useChange } from "../api/queries.runner.ts";
import { useOrg } from "../frame/org.tsx";
import { SameByCommand } from "../parts/action-dialog.tsx";
import { quoted } from "../parts/commands.ts";
import { Dialog } from "../parts/dialog.tsx";
import { FailurePanel } from "../parts/loaded.tsx";
import { checkLines } from "./credential-words.ts";

/** Asks the provider whether a credential suffices, before anything is made with it. */
export function CheckCredential(props: { readonly credential: Credential; readonly onClose: () => void }) {
  const { credential, onClose } = props;
  const org = useOrg();
  const check = useChange("checkCredential");
  const input = { id: credential.id };
  return (
    <Dialog opened onClose={onClose} title={`Check ${credential.name}`} size="lg">
      <Stack>
        <Text size="sm">
          The provider is asked who this is, what it may do and how much of the quotas is left. Nothing is created.
        </Text>
        {check.error ? <FailurePanel error={check.error} /> : null}
        {check.data ? <CheckResult check={check.data} /> : null}
        <SameByCommand
          operation="checkCredential"
          input={input}
          command={`binnacle credentials check ${quoted(credential.name)} --org ${org.slug}`}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          <Button loading={check.isPending} onClick={() => check.mutate(input)}>
            {check.data ? "Check again" : "Check now"}
          </Button>
        </Group>
      </Stack>
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
