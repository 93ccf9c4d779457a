import { Alert, Button, Code, CopyButton, Group, Stack, Text } from "@mantine/core";
import { IconCheck, IconCopy, IconEyeOff } from "@tabler/icons-react";

/** A secret that the API shows once. It lives in the component that got it, and is gone with it. */
export function SecretOnce({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <Stack gap="xs">
      <Code block style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }} tabIndex={0}>
        {text}
      </Code>
      <Group gap="sm">
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <Button
              size="xs"
              onClick={copy}
              leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
            >
              {copied ? "Copied" : label}
            </Button>
          )}
        </CopyButton>
      </Group>
      <Alert color="yellow" variant="light" icon={<IconEyeOff size={16} aria-hidden />} py="xs">
        <Text size="sm">It holds a secret and is shown only now. Copy it before you leave this page.</Text>
      </Alert>
    </Stack>
  );
}
