import type { PendingDeviceLogin } from "@binnacle/client";
import { Button, Card, Checkbox, Code, Group, List, Stack, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconCheck, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { useChange, useRead } from "../api/queries.runner.ts";
import { binnacleOf } from "../components/commands.ts";
import { TextLink } from "../components/links.tsx";
import { FailurePanel, Loaded } from "../components/loaded.tsx";
import { Moment } from "../components/moment.tsx";
import { Notice } from "../components/notice.tsx";
import { EmptyState, Facts, Page } from "../components/page.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { codeOf, grantsOf, isPowerful, placeOf, suspicionsOf } from "./grants.ts";

const LOGIN = binnacleOf("startDeviceLogin", {});

/** Where somebody who is signed in approves or denies a device that shows a code. */
export function DevicePage() {
  const [search, choose] = usePageSearch();
  const code = codeOf(search["user_code"] ?? "");
  const [decision, setDecision] = useState<"approved" | "denied" | null>(null);
  return (
    <Page title="Approve a device">
      <Card maw={640} w="100%" mx="auto" padding="lg">
        {decision !== null ? (
          <Decided decision={decision} />
        ) : code === null ? (
          <CodeForm onCode={(user_code) => choose({ user_code })} />
        ) : (
          <Pending code={code} onDecided={setDecision} onOther={() => choose({ user_code: undefined })} />
        )}
      </Card>
    </Page>
  );
}

function CodeForm({ onCode }: { readonly onCode: (code: string) => void }) {
  const form = useForm({
    initialValues: { code: "" },
    validate: { code: (typed) => (codeOf(typed) === null ? "A code has eight letters." : null) },
  });
  return (
    <form onSubmit={form.onSubmit(({ code }) => onCode(codeOf(code) ?? ""))}>
      <Stack>
        <Text size="sm">
          Run <Code>{LOGIN}</Code> on your own computer. It shows a code of eight letters: type it here.
        </Text>
        <TextInput
          label="Code"
          placeholder="BCDF-GHJK"
          spellCheck={false}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", textTransform: "uppercase" } }}
          data-autofocus
          {...form.getInputProps("code")}
        />
        <Group justify="flex-end">
          <Button type="submit">Continue</Button>
        </Group>
      </Stack>
    </form>
  );
}

function Pending(props: {
  readonly code: string;
  readonly onDecided: (decision: "approved" | "denied") => void;
  readonly onOther: () => void;
}) {
  const login = useRead("getDeviceLogin", { user_code: props.code });
  if (login.error && login.error.kind === "not_found" && !login.data) {
    return (
      <EmptyState
        title="No device waits with this code"
        action={
          <Button variant="light" onClick={props.onOther}>
            Type another code
          </Button>
        }
        command={LOGIN}
      >
        A code is valid for ten minutes, and for one decision. Ask the device for a new one.
      </EmptyState>
    );
  }
  return <Loaded of={login}>{(data) => <Decision login={data} onDecided={props.onDecided} />}</Loaded>;
}

function Decision(props: {
  readonly login: PendingDeviceLogin;
  readonly onDecided: (decision: "approved" | "denied") => void;
}) {
  const { login } = props;
  const [isOwn, setOwn] = useState(false);
  const sessions = useRead("listSessions", { items_per_page: 100 });
  const me = useRead("getMe", {});
  const change = useChange("decideDeviceLogin");
  const ownAddress = sessions.data?.data.find(({ current }) => current)?.last_used_address ?? null;
  const suspicions = suspicionsOf(login, ownAddress);

  async function decide(approved: boolean): Promise<void> {
    try {
      await change.mutateAsync({ body: { user_code: login.user_code, approved } });
      props.onDecided(approved ? "approved" : "denied");
    } catch {
      // The error is on screen.
    }
  }

  return (
    <Stack>
      <Text ta="center" fz={28} fw={700} ff="monospace" aria-label={`Code ${login.user_code}`}>
        {login.user_code}
      </Text>
      <Notice tone="warning" title="Approve only a code from your own terminal">
        Compare it with the code on the screen of your own computer. If somebody sent you this code or this link, deny
        it: an approval would give them your access.
      </Notice>
      <Title order={2} size="h3">
        It will be able to
      </Title>
      <List spacing={4} size="sm">
        {grantsOf(login).map((line) => (
          <List.Item key={line}>{line}</List.Item>
        ))}
      </List>
      <Facts
        of={[
          ["As", me.data ? `${me.data.name} (${me.data.email})` : "you"],
          ["Where", placeOf(login)],
          ["Access", login.kind === "session" ? "A session, as if you signed in there" : "A CLI token for 90 days"],
          ["It calls itself", `${login.client_name} (nothing proves it)`],
          ["Asks from", login.source_address ?? "unknown"],
          ["Asked", <Moment key="at" at={login.created_at} />],
        ]}
      />
      {suspicions.length > 0 ? (
        <Notice tone="bad" title="Look twice">
          {suspicions.map((line) => (
            <div key={line}>{line}</div>
          ))}
        </Notice>
      ) : null}
      <Checkbox
        checked={isOwn}
        onChange={(event) => setOwn(event.currentTarget.checked)}
        label="I began this login myself, and my terminal shows this code."
      />
      {change.error ? <FailurePanel error={change.error} /> : null}
      <Group justify="flex-end">
        <Button
          variant="default"
          leftSection={<IconX size={16} aria-hidden />}
          onClick={() => void decide(false)}
          loading={change.isPending && change.variables?.body.approved === false}
        >
          Deny
        </Button>
        <Button
          color={isPowerful(login) ? "red" : "navy"}
          leftSection={<IconCheck size={16} aria-hidden />}
          disabled={!isOwn}
          onClick={() => void decide(true)}
          loading={change.isPending && change.variables?.body.approved === true}
        >
          Approve
        </Button>
      </Group>
    </Stack>
  );
}

function Decided({ decision }: { readonly decision: "approved" | "denied" }) {
  return decision === "approved" ? (
    <EmptyState title="Approved">
      The device receives its access now. You can close this page, and take the access back at any time under{" "}
      <TextLink inherit isInText to="/account" search={{ tab: "tokens" }}>
        your account
      </TextLink>
      .
    </EmptyState>
  ) : (
    <EmptyState title="Denied">The device receives nothing. If you did not expect it, no harm was done.</EmptyState>
  );
}
