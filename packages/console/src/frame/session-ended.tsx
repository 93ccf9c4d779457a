import type { Answer } from "@binnacle/client";
import { Button, Group, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { Refusal } from "../account/refusal.tsx";
import { session } from "../api/session.adapter.ts";
import classes from "./session-ended.module.css";

/**
 * Covers the page of somebody whose session the server has ended. Only the same person can go on with it: a browser shows nothing
 * of what is below a modal dialog, and lets nobody act on it.
 */
export function SessionEnded() {
  const me = useQueryClient().getQueryData<Answer<"getMe">>(["getMe", {}]);
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => open(dialog.current), []);
  useEffect(() => {
    // Nobody knows whose page it is.
    if (!me) session.left();
  }, [me]);
  if (!me) return null;
  return (
    <dialog
      ref={dialog}
      className={classes.dialog}
      aria-labelledby="session-ended"
      onCancel={(event) => event.preventDefault()}
      // A browser closes a dialog at the second Escape, whatever is said to the first.
      onClose={() => open(dialog.current)}
    >
      <SignInAgain username={me.username} />
    </dialog>
  );
}

function open(dialog: HTMLDialogElement | null): void {
  dialog?.showModal();
  // A dialog gives the focus to its first field, which is not to be changed.
  dialog?.querySelector<HTMLInputElement>("input[type=password]")?.focus();
}

function SignInAgain({ username }: { readonly username: string }) {
  const form = useForm({ initialValues: { password: "" } });
  const [error, setError] = useState<unknown>(null);

  async function signIn({ password }: typeof form.values): Promise<void> {
    setError(null);
    try {
      await session.signIn(username, password);
    } catch (failure) {
      setError(failure);
      form.setFieldValue("password", "");
    }
  }

  return (
    <form onSubmit={form.onSubmit(signIn)}>
      <Stack>
        <Title order={2} id="session-ended">
          Your session has ended
        </Title>
        <Text size="sm">
          It has expired, or somebody has ended it. Sign in again to go on: the page is kept as it is, with what you
          have typed.
        </Text>
        {error ? <Refusal error={error} /> : null}
        <TextInput label="Username" autoComplete="username" value={username} readOnly />
        <PasswordInput label="Password" autoComplete="current-password" required {...form.getInputProps("password")} />
        <Group justify="space-between">
          <Button type="submit" loading={form.submitting}>
            Sign in again
          </Button>
          <Button variant="subtle" color="gray" onClick={() => session.left()}>
            Leave and sign out
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
