import type { Session } from "@binnacle/client";
import { Button, Text } from "@mantine/core";
import { useState } from "react";
import { ActionDialog } from "../parts/action-dialog.tsx";
import { type Column, ListTable } from "../parts/list-table.tsx";
import { Moment } from "../parts/moment.tsx";
import { EmptyState } from "../parts/page.tsx";
import { browserOf } from "./browser-name.ts";

/** The open sessions of the caller: every browser and device that is signed in. */
export function SessionsTab() {
  const [ending, setEnding] = useState<Session | null>(null);
  const columns: readonly Column<Session>[] = [
    {
      key: "device",
      title: "Device",
      width: "minmax(0, 2fr)",
      render: (session) => (
        <Text size="sm" truncate title={session.user_agent ?? ""}>
          {session.client_name ?? browserOf(session.user_agent) ?? "Unknown"}
        </Text>
      ),
    },
    {
      key: "address",
      title: "Address",
      width: "minmax(100px, 1fr)",
      from: "tablet",
      render: ({ last_used_address, source_address }) => last_used_address ?? source_address ?? "—",
    },
    { key: "used", title: "Last used", width: "90px", render: ({ last_used_at }) => <Moment at={last_used_at} /> },
    {
      key: "since",
      title: "Signed in",
      width: "110px",
      from: "tablet",
      render: ({ created_at }) => <Moment at={created_at} />,
    },
    {
      key: "expires",
      title: "Expires",
      width: "110px",
      from: "desktop",
      render: ({ expires_at }) => <Moment at={expires_at} />,
    },
    {
      key: "end",
      title: "",
      width: "60px",
      render: (session) =>
        session.current ? (
          <Text size="xs" c="dimmed">
            This one
          </Text>
        ) : (
          <Button size="compact-sm" variant="default" onClick={() => setEnding(session)}>
            End
          </Button>
        ),
    },
  ];
  return (
    <>
      <ListTable
        label="Sessions"
        operation="listSessions"
        input={{}}
        columns={columns}
        empty={<EmptyState title="No sessions">Sign in to begin one.</EmptyState>}
      />
      {ending ? (
        <ActionDialog
          opened
          onClose={() => setEnding(null)}
          title="End the session"
          operation="endSession"
          input={{ id: ending.id }}
          action="End session"
          consequences={[
            "Whoever uses it is signed out at once.",
            "If you do not know the device, change your password too.",
          ]}
          command={`binnacle sessions end ${ending.id}`}
          done="The session is ended."
        >
          <Text size="sm">{ending.client_name ?? browserOf(ending.user_agent) ?? "Unknown device"}</Text>
        </ActionDialog>
      ) : null}
    </>
  );
}
