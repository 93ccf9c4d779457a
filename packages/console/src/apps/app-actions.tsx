import type { App, OperationName } from "@binnacle/client";
import { ActionIcon, Button, Menu, Text } from "@mantine/core";
import {
  IconArrowBackUp,
  IconArrowsMaximize,
  IconDotsVertical,
  IconHandGrab,
  IconHandOff,
  IconHandStop,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlugConnected,
  IconPlugConnectedX,
  type IconProps,
  IconRefresh,
  IconTemplate,
  IconTrash,
} from "@tabler/icons-react";
import { type ComponentType, useState } from "react";
import { SuspendDialog, UnsuspendDialog } from "../components/suspension.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { useMay } from "../frame/org.tsx";
import { type AppAction, obstacle, primaryAction, stateOf } from "./app-action.ts";
import { addressOf } from "./app-address.ts";
import { AttachDialog, DeleteDialog, DetachDialog, SimpleDialog, TemplateDialog } from "./app-dialogs.tsx";
import { ScaleDialog } from "./scale-dialog.tsx";

interface Entry {
  readonly label: string;
  readonly Icon: ComponentType<IconProps>;
  readonly operation: OperationName;
}

const ENTRIES: Readonly<Record<AppAction, Entry>> = {
  edit: { label: "Edit configuration", Icon: IconPencil, operation: "updateApp" },
  scale: { label: "Scale", Icon: IconArrowsMaximize, operation: "scaleApp" },
  pause: { label: "Pause", Icon: IconPlayerPause, operation: "pauseApp" },
  resume: { label: "Resume", Icon: IconPlayerPlay, operation: "resumeApp" },
  suspend: { label: "Suspend reconciliation", Icon: IconHandStop, operation: "suspendApp" },
  unsuspend: { label: "Unsuspend", Icon: IconHandOff, operation: "unsuspendApp" },
  redeploy: { label: "Redeploy", Icon: IconRefresh, operation: "redeployApp" },
  take_over: { label: "Take over fields", Icon: IconHandGrab, operation: "redeployApp" },
  roll_back: { label: "Roll back", Icon: IconArrowBackUp, operation: "rollbackToDeployment" },
  attach_addon: { label: "Attach addon", Icon: IconPlugConnected, operation: "attachAddon" },
  detach_addon: { label: "Detach addon", Icon: IconPlugConnectedX, operation: "detachAddon" },
  save_template: { label: "Save as template", Icon: IconTemplate, operation: "createStackTemplateFromApp" },
  delete: { label: "Delete", Icon: IconTrash, operation: "deleteApp" },
};
/** Rarely possible: nobody misses them in the menu otherwise. */
const ONLY_IF_POSSIBLE: ReadonlySet<AppAction> = new Set(["take_over", "suspend", "unsuspend"]);
const MENU: readonly AppAction[] = Object.keys(ENTRIES) as AppAction[];

/** The primary action of an app, and a menu with the others. What the caller may not do is not there. */
export function AppActions({ app, onDeleted }: { readonly app: App; readonly onDeleted: () => void }) {
  const may = useMay();
  const [, choose] = usePageSearch();
  const [open, setOpen] = useState<AppAction | null>(null);
  const place = { clusterId: app.cluster_id, projectId: app.project_id };
  const state = stateOf(app);
  const allowed = MENU.filter((action) => may(ENTRIES[action].operation, place));
  const primary = primaryAction(state);

  function start(action: AppAction): void {
    if (action === "edit") choose({ tab: "configuration" });
    else if (action === "roll_back") choose({ tab: "deployments" });
    else setOpen(action);
  }

  const shown = allowed.filter((action) => !ONLY_IF_POSSIBLE.has(action) || obstacle(action, state) === null);
  return (
    <>
      {primary && allowed.includes(primary.action) ? (
        <PrimaryButton action={primary.action} label={primary.label} onClick={() => start(primary.action)} />
      ) : null}
      {shown.length > 0 ? (
        <Menu position="bottom-end" width={230}>
          <Menu.Target>
            {/* A tooltip between them would keep from the button that it has a menu, and which. */}
            <ActionIcon variant="default" size={36} aria-label="More actions" title="More actions">
              <IconDotsVertical size={18} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {shown.map((action) => (
              <Item key={action} action={action} why={obstacle(action, state)} onClick={() => start(action)} />
            ))}
          </Menu.Dropdown>
        </Menu>
      ) : null}
      <Dialog action={open} app={app} onClose={() => setOpen(null)} onDeleted={onDeleted} />
    </>
  );
}

function PrimaryButton(props: { readonly action: AppAction; readonly label: string; readonly onClick: () => void }) {
  const { Icon } = ENTRIES[props.action];
  return (
    <Button leftSection={<Icon size={16} aria-hidden />} onClick={props.onClick}>
      {props.label}
    </Button>
  );
}

/** Something that the state of the app does not allow says why. */
function Item(props: { readonly action: AppAction; readonly why: string | null; readonly onClick: () => void }) {
  const { label, Icon } = ENTRIES[props.action];
  const isDelete = props.action === "delete";
  return (
    <>
      {isDelete ? <Menu.Divider /> : null}
      <Menu.Item
        leftSection={<Icon size={16} aria-hidden />}
        disabled={props.why !== null}
        onClick={props.onClick}
        {...(isDelete ? { c: "var(--tone-bad)" } : {})}
      >
        {label}
        {props.why === null ? null : (
          <Text size="xs" c="dimmed">
            {props.why}
          </Text>
        )}
      </Menu.Item>
    </>
  );
}

interface DialogProps {
  readonly action: AppAction | null;
  readonly app: App;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

function Dialog({ action, app, onClose, onDeleted }: DialogProps) {
  const suspending = { scope: "app", name: app.name, address: addressOf(app), onClose } as const;
  switch (action) {
    case "pause":
    case "resume":
    case "redeploy":
    case "take_over":
      return <SimpleDialog kind={action} app={app} onClose={onClose} />;
    case "suspend":
      return <SuspendDialog {...suspending} operation="suspendApp" />;
    case "unsuspend":
      return <UnsuspendDialog {...suspending} operation="unsuspendApp" />;
    case "scale":
      return <ScaleDialog app={app} onClose={onClose} />;
    case "attach_addon":
      return <AttachDialog app={app} onClose={onClose} />;
    case "detach_addon":
      return <DetachDialog app={app} onClose={onClose} />;
    case "save_template":
      return <TemplateDialog app={app} onClose={onClose} />;
    case "delete":
      return <DeleteDialog app={app} onClose={onClose} onDeleted={onDeleted} />;
    case "edit":
    case "roll_back":
    case null:
      // These lead to a tab.
      return null;
  }
}
