import { PasswordInput, TextInput } from "@mantine/core";
import { ActionDialog } from "./action-dialog.tsx";

/** The dialog that makes an account for somebody. */
export function CreateUser(props: { readonly onClose: () => void; readonly onDone?: (email: string) => void }) {
  return (
    <ActionDialog
      onClose={props.onClose}
      title="Create a user"
      operation="createUser"
      values={{ name: "", username: "", email: "", password: "" }}
      input={(body) => ({ body })}
      action="Create user"
      isReady={(typed) => Object.values(typed).every((text) => text !== "")}
      done={({ name }) => `${name} can sign in now.`}
      onDone={({ email }) => props.onDone?.(email)}
    >
      {({ field }) => (
        <>
          <TextInput label="Name" withAsterisk data-autofocus {...field("name")} />
          <TextInput
            label="Username"
            description="2 to 20 lower-case letters and digits."
            withAsterisk
            {...field("username")}
          />
          <TextInput label="Email" type="email" withAsterisk {...field("email")} />
          <PasswordInput
            label="Password"
            description="8 to 128 characters. Hand it over safely; they change it after the first sign-in."
            withAsterisk
            {...field("password")}
          />
        </>
      )}
    </ActionDialog>
  );
}
