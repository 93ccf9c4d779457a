import { PasswordInput, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { ActionDialog } from "./action-dialog.tsx";

const EMPTY = { name: "", username: "", email: "", password: "" };

/** The dialog that makes an account for somebody. */
export function CreateUser(props: { readonly onClose: () => void; readonly onDone?: (email: string) => void }) {
  const [typed, setTyped] = useState(EMPTY);
  return (
    <ActionDialog
      opened
      onClose={props.onClose}
      title="Create a user"
      operation="createUser"
      input={{ body: typed }}
      action="Create user"
      isReady={Object.values(typed).every((text) => text !== "")}
      command={`binnacle users create ${typed.username || "…"} --name "${typed.name || "…"}" --email ${typed.email || "…"}`}
      done={`${typed.name} can sign in now.`}
      onDone={({ email }) => props.onDone?.(email)}
    >
      {(problems) => {
        const field = (key: keyof typeof EMPTY) => ({
          value: typed[key],
          error: problems[key],
          withAsterisk: true,
          onChange: (event: { currentTarget: HTMLInputElement }) =>
            setTyped({ ...typed, [key]: event.currentTarget.value }),
        });
        return (
          <Stack gap="sm">
            <TextInput label="Name" autoComplete="off" {...field("name")} data-autofocus />
            <TextInput
              label="Username"
              description="2 to 20 lower-case letters and digits."
              autoComplete="off"
              {...field("username")}
            />
            <TextInput label="Email" type="email" autoComplete="off" {...field("email")} />
            <PasswordInput
              label="Password"
              description="8 to 128 characters. Hand it over safely; they change it after the first sign-in."
              autoComplete="new-password"
              {...field("password")}
            />
          </Stack>
        );
      }}
    </ActionDialog>
  );
}
