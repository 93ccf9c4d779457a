import type { Input, Me } from "@binnacle/client";
import { Badge, Button, Checkbox, Grid, Group, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { type FormEvent, useState } from "react";
import { failureView } from "../api/failure.ts";
import { useChange } from "../api/queries.runner.ts";
import { FailurePanel } from "../parts/loaded.tsx";
import { Moment } from "../parts/moment.tsx";
import { Facts, Section } from "../parts/page.tsx";

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
  const [typed, setTyped] = useState({ name: me.name, username: me.username, email: me.email });
  const [password, setPassword] = useState("");
  const change = useChange("updateUser");
  const problems = change.error ? failureView(change.error).fields : {};
  const isNewEmail = typed.email !== me.email;
  const changed = Object.fromEntries(
    Object.entries(typed).filter(([key, value]) => value !== me[key as keyof typeof typed]),
  ) as Input<"updateUser">["body"];
  const isChanged = Object.keys(changed).length > 0;
  const field = (key: keyof typeof typed) => ({
    value: typed[key],
    error: problems[key],
    onChange: (event: { currentTarget: HTMLInputElement }) => setTyped({ ...typed, [key]: event.currentTarget.value }),
  });

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (!isChanged || change.isPending) return;
    try {
      await change.mutateAsync({
        id: me.id,
        body: { ...changed, ...(isNewEmail ? { current_password: password } : {}) },
      });
      notifications.show({ message: "Your profile is saved.", color: "green" });
    } catch {
      // The error is on screen.
    }
  }

  return (
    <form onSubmit={(event) => void save(event)}>
      <Stack gap="sm">
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
        {isNewEmail ? (
          <PasswordInput
            label="Current password"
            description="A new address needs it."
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            error={problems["current_password"]}
            autoComplete="current-password"
            required
          />
        ) : null}
        {change.error ? <FailurePanel error={change.error} /> : null}
        <Group justify="flex-end">
          <Button type="submit" disabled={!isChanged} loading={change.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function PasswordForm({ id }: { readonly id: string }) {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const [again, setAgain] = useState("");
  const [keepsTokens, setKeepsTokens] = useState(false);
  const change = useChange("updateUser");
  const problems = change.error ? failureView(change.error).fields : {};
  const isSame = again === "" || next === again;

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (next !== again || change.isPending) return;
    try {
      await change.mutateAsync({
        id,
        body: { password: next, current_password: current, ...(keepsTokens ? { keep_tokens: true } : {}) },
      });
      // The change has ended this session too; the sign-in comes by itself.
    } catch {
      setCurrent("");
    }
  }

  return (
    <form onSubmit={(event) => void save(event)}>
      <Stack gap="sm">
        <PasswordInput
          label="Current password"
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
          error={problems["current_password"]}
          autoComplete="current-password"
          required
        />
        <PasswordInput
          label="New password"
          description="8 to 128 characters."
          value={next}
          onChange={(event) => setNext(event.currentTarget.value)}
          error={problems["password"]}
          autoComplete="new-password"
          minLength={8}
          maxLength={128}
          required
        />
        <PasswordInput
          label="New password again"
          value={again}
          onChange={(event) => setAgain(event.currentTarget.value)}
          error={isSame ? null : "The two are not the same."}
          autoComplete="new-password"
          required
        />
        <Checkbox
          label="Keep my CLI tokens"
          description="Leave this off if somebody else may know the password."
          checked={keepsTokens}
          onChange={(event) => setKeepsTokens(event.currentTarget.checked)}
        />
        {change.error ? <FailurePanel error={change.error} /> : null}
        <Text size="xs" c="dimmed">
          A new password ends all your sessions, this one too. You sign in again with it.
        </Text>
        <Group justify="flex-end">
          <Button type="submit" loading={change.isPending} disabled={!current || !next || next !== again}>
            Change password
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
