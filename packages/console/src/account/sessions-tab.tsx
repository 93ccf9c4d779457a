import type { Session } from "@binnacle/client";
import { Text } from "@mantine/core";
import { ActionDialog } from "../components/action-dialog.tsx";
import { timeColumn } from "../components/list-table.tsx";
import { EmptyState } from "../components/page.tsx";
import { ResourceList } from "../components/resource-list.tsx";
import { browserOf } from "./browser-name.ts";

const deviceOf = (session: Session) => session.client_name ?? browserOf(session.user_agent) ?? "Unknown device";

/** The open sessions of the caller: every browser and device that is signed in. */
export function SessionsTab() {
  return (
    <ResourceList
      label="Sessions"
      operation="listSessions"
      input={{}}
      nameOf={deviceOf}
      columns={[
        {
          title: "Device",
          width: "minmax(0, 2fr)",
          render: (session) => (
            <Text size="sm" truncate title={session.user_agent ?? ""}>
              {deviceOf(session)}
              {session.current ? " (this one)" : ""}
            </Text>
          ),
        },
        {
          title: "Address",
          from: "tablet",
          render: ({ last_used_address, source_address }) => last_used_address ?? source_address ?? "—",
        },
        timeColumn("Last used", "last_used_at"),
        timeColumn("Signed in", "created_at", "tablet"),
        timeColumn("Expires", "expires_at", "desktop"),
      ]}
      empty={<EmptyState title="No sessions">Sign in to begin one.</EmptyState>}
      button={(session) =>
        session.current
          ? null
          : {
              label: "End",
              operation: "endSession",
              dialog: (close) => (
                <ActionDialog
                  onClose={close}
                  title="End the session"
                  operation="endSession"
                  input={{ id: session.id }}
                  action="End session"
                  consequences={[
                    "Whoever uses it is signed out at once.",
                    "If you do not know the device, change your password too.",
                  ]}
                  done="The session is ended."
                >
                  <Text size="sm">{deviceOf(session)}</Text>
                </ActionDialog>
              ),
            }
      }
    />
  );
}
