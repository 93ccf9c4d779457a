import type { Me } from "@binnacle/client";
import { Badge, Checkbox, Grid, Group, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { changedFields, OperationForm } from "../components/form.tsx";
import { Moment } from "../components/moment.tsx";
import { Facts, Section } from "../components/page.tsx";

/** Name, address and password of the caller. */
export function ProfileTab({ me }: { readonly me: Me }) {
  return (
    <Grid>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Stack>
          <Section title="Profile">
            {/* A change from elsewhere begins the form anew. */}
            <ProfileForm key={me.updated_at} me={me} />
          </Section>
          <Section title="Your access">
            <Facts
              of={[
                ["Tier", me.tier],
                ["Superuser", me.is_superuser ? "Yes, you administer the whole installation" : "No"],
                [
                  "Organizations",
                  me.organizations.length === 0 ? (
                    "None"
                  ) : (
                    <Group key="of" gap={6}>
                      {me.organizations.map(({ id, name, role }) => (
                        <Badge key={id} variant="default" tt="none" radius="sm" fw={500}>
                          {name}: {role}
                        </Badge>
                      ))}
                    </Group>
                  ),
                ],
                ["Here since", <Moment key="at" at={me.created_at} />],
              ]}
            />
          </Section>
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Section title="Password">
          <PasswordForm id={me.id} />
        </Section>
      </Grid.Col>
    </Grid>
  );
}

function ProfileForm({ me }: { readonly me: Me }) {
  const before = { name: me.name, username: me.username, email: me.email, current_password: "" };
  const isNewEmail = ({ email }: typeof before) => email !== me.email;
  const changed = (typed: typeof before) =>
    changedFields(before, isNewEmail(typed) ? typed : { ...typed, current_password: "" });
  return (
    <OperationForm
      operation="updateUser"
      values={before}
      input={(typed) => ({ id: me.id, body: changed(typed) })}
      hasCommands={false}
      action="Save"
      isReady={(typed) => Object.keys(changed(typed)).length > 0}
      done="Your profile is saved."
    >
      {({ field, values }) => (
        <>
          <TextInput label="Name" autoComplete="name" {...field("name")} />
          <TextInput
            label="Username"
            description="2 to 20 letters and digits."
            autoComplete="username"
            {...field("username")}
          />
          <TextInput
            label="Email"
            type="email"
            description={
              me.email_verified
                ? "Confirmed."
                : "Not confirmed yet: a superuser confirms it, then you can be added by it."
            }
            autoComplete="email"
            {...field("email")}
          />
          {isNewEmail(values) ? (
            <PasswordInput
              label="Current password"
              description="A new address needs it."
              autoComplete="current-password"
              required
              {...field("current_password")}
            />
          ) : null}
        </>
      )}
    </OperationForm>
  );
}

/** A success ends this session too; the sign-in comes by itself. */
function PasswordForm({ id }: { readonly id: string }) {
  return (
    <OperationForm
      operation="updateUser"
      values={{ current_password: "", password: "", again: "", keep_tokens: false }}
      input={({ current_password, password, keep_tokens }) => ({
        id,
        body: { current_password, password, ...(keep_tokens ? { keep_tokens } : {}) },
      })}
      hasCommands={false}
      action="Change password"
      isReady={({ current_password, password, again }) =>
        current_password !== "" && password !== "" && password === again
      }
      onFailure={(_, form) => form.setFieldValue("current_password", "")}
    >
      {({ field, check, values: { password, again } }) => (
        <>
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            {...field("current_password")}
          />
          <PasswordInput
            label="New password"
            description="8 to 128 characters."
            minLength={8}
            maxLength={128}
            required
            {...field("password")}
          />
          <PasswordInput
            label="New password again"
            required
            {...field("again")}
            error={again === "" || password === again ? null : "The two are not the same."}
          />
          <Checkbox
            label="Keep my CLI tokens"
            description="Leave this off if somebody else may know the password."
            {...check("keep_tokens")}
          />
          <Text size="xs" c="dimmed">
            A new password ends all your sessions, this one too. You sign in again with it.
          </Text>
        </>
      )}
    </OperationForm>
  );
}
