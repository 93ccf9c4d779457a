import { Unauthenticated } from "@binnacle/client";
import { Alert, Button, Center, Paper, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconAlertCircle } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { session } from "../api/session.adapter.ts";
import { Logo } from "../frame/logo.tsx";
import { FailurePanel } from "../parts/loaded.tsx";

export function LoginPage() {
  useDocumentTitle("Sign in · Binnacle");
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [isPending, setPending] = useState(false);

  async function signIn(event: FormEvent): Promise<void> {
    event.preventDefault();
    setPending(true);
    setError(null);
    try {
      await session.signIn(username, password);
    } catch (failure) {
      setError(failure);
      setPassword("");
    } finally {
      setPending(false);
    }
  }

  return (
    <Center mih="100dvh" p="md" component="main">
      <Paper p="xl" w="100%" maw={400} shadow="sm">
        <form onSubmit={(event) => void signIn(event)}>
          <Stack>
            <Stack gap={4} align="center">
              <Logo size={40} />
              <Title order={1}>Sign in to Binnacle</Title>
              <Text size="sm" c="dimmed">
                Applications on all your clusters
              </Text>
            </Stack>
            {error ? <Refusal error={error} /> : null}
            <TextInput
              label="Username or email"
              value={username}
              onChange={(event) => setUsername(event.currentTarget.value)}
              autoComplete="username"
              autoFocus
              required
            />
            <PasswordInput
              label="Password"
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
              autoComplete="current-password"
              required
            />
            <Button type="submit" loading={isPending}>
              Sign in
            </Button>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}

/** Wrong credentials are no failure of the console: the API's own words say all, and nobody needs to look for the request. */
function Refusal({ error }: { readonly error: unknown }) {
  if (!(error instanceof Unauthenticated)) return <FailurePanel error={error} />;
  return (
    <Alert color="red" variant="light" role="alert" icon={<IconAlertCircle aria-hidden />}>
      {error.message}
    </Alert>
  );
}
