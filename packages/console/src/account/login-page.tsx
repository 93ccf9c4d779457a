import { Button, Center, Paper, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDocumentTitle } from "@mantine/hooks";
import { useState } from "react";
import { session } from "../api/session.adapter.ts";
import { Logo } from "../frame/logo.tsx";
import { Refusal } from "./refusal.tsx";

export function LoginPage() {
  useDocumentTitle("Sign in · Binnacle");
  const form = useForm({ initialValues: { username: "", password: "" } });
  const [error, setError] = useState<unknown>(null);

  async function signIn({ username, password }: typeof form.values): Promise<void> {
    setError(null);
    try {
      await session.signIn(username, password);
    } catch (failure) {
      setError(failure);
      form.setFieldValue("password", "");
    }
  }

  return (
    <Center mih="100dvh" p="md" component="main">
      <Paper p="xl" w="100%" maw={400} shadow="sm">
        <form onSubmit={form.onSubmit(signIn)}>
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
              autoComplete="username"
              autoFocus
              required
              {...form.getInputProps("username")}
            />
            <PasswordInput
              label="Password"
              autoComplete="current-password"
              required
              {...form.getInputProps("password")}
            />
            <Button type="submit" loading={form.submitting}>
              Sign in
            </Button>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}
