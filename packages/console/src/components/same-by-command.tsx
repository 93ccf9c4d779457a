import type { CallName } from "@binnacle/client";
import { Button, Code, Collapse, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useOrgIfAny } from "../frame/org.tsx";
import { binnacleOf, curlOf, type Named } from "./commands.ts";
import { CopyText } from "./copy-text.tsx";

/** The `binnacle` and `curl` commands of a call, folded away until somebody wants them. */
export function SameByCommand(props: {
  readonly operation: CallName;
  readonly input: object;
  readonly named?: readonly Named[] | undefined;
  readonly command?: string | null | undefined;
}) {
  const { operation, input, named = [] } = props;
  const [isOpen, setOpen] = useState(false);
  const org = useOrgIfAny();
  const { command = binnacleOf(operation, input, org ? [...named, { id: org.id, name: org.slug }] : named) } = props;
  const commands = [command, curlOf(location.origin, operation, input as Record<string, unknown>)];
  return (
    <div>
      <Button
        variant="subtle"
        color="gray"
        size="compact-xs"
        ml={-8}
        onClick={() => setOpen(!isOpen)}
        aria-expanded={isOpen}
      >
        {isOpen ? "Hide the commands" : "The same by command"}
      </Button>
      <Collapse expanded={isOpen}>
        <Stack gap="xs" mt="xs">
          {commands.map((each) =>
            each === null ? null : (
              <Group key={each} gap={4} wrap="nowrap" align="flex-start">
                <Code block style={{ flex: 1, whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
                  {each}
                </Code>
                <CopyText text={each} label="Copy the command" />
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
