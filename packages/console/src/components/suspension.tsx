import type { CallName, Input, Suspension } from "@binnacle/client";
import { Alert, Button, TextInput } from "@mantine/core";
import { IconHandOff, IconHandStop } from "@tabler/icons-react";
import { useState } from "react";
import { SUSPENDED } from "../status/status.ts";
import { StatusBadge } from "../status/status-badge.tsx";
import { suspensionText } from "../status/suspension.ts";
import { ActionDialog } from "./action-dialog.tsx";
import { Moment } from "./moment.tsx";
import { visibleText } from "./visible-text.ts";

interface OfSuspension {
  readonly of: Suspension | null;
}

/** Beside the status. */
export const SuspensionBadge = ({ of }: OfSuspension) => (of ? <StatusBadge status={SUSPENDED} size="lg" /> : null);

/** Who has suspended it, why, since when, and whether that holds. */
export function SuspensionNotice({ of }: OfSuspension) {
  if (!of) return null;
  return (
    <Alert color={of.state === "not_in_effect" ? "red" : "yellow"} icon={<IconHandStop aria-hidden />} p="xs">
      {visibleText(suspensionText(of))} Since <Moment at={of.at} />.
    </Alert>
  );
}

type Suspending = Extract<CallName, "suspendApp" | "suspendProject" | "suspendCluster">;
type Unsuspending = Extract<CallName, "unsuspendApp" | "unsuspendProject" | "unsuspendCluster">;

interface Props<N extends Suspending | Unsuspending> {
  readonly scope: Suspension["scope"];
  readonly name: string;
  readonly operation: N;
  /** Its parameters. */
  readonly address: Omit<Input<N>, "body">;
  readonly onClose: () => void;
}

export function SuspendDialog<N extends Suspending>({ scope, name, operation, address, onClose }: Props<N>) {
  const what = scope === "app" ? "it" : `what is ${scope === "project" ? "in" : "on"} it`;
  return (
    <ActionDialog
      onClose={onClose}
      title={`Suspend ${name}`}
      operation={operation}
      values={{ reason: "" }}
      input={({ reason }) => ({ ...address, body: reason === "" ? {} : { reason } }) as Input<N>}
      action="Suspend"
      consequences={[
        `What runs stays as it is. Until it is unsuspended, the operator applies, corrects and removes nothing of ${what}.`,
        "Changes are stored meanwhile, whoever makes them.",
      ]}
      done={`${name} is suspended.`}
    >
      {({ field }) => (
        <TextInput label="Reason" description={`Everybody who sees the ${scope} can read it.`} {...field("reason")} />
      )}
    </ActionDialog>
  );
}

export function UnsuspendDialog<N extends Unsuspending>({ scope, name, operation, address, onClose }: Props<N>) {
  return (
    <ActionDialog
      onClose={onClose}
      title={`Unsuspend: ${name}`}
      operation={operation}
      input={address as Input<N>}
      action="Unsuspend"
      consequences={[
        "What was stored meanwhile is applied.",
        "What was changed in the cluster by hand is corrected again.",
        ...(scope === "app" ? [] : [`What is suspended by itself ${scope === "project" ? "in" : "on"} it stays so.`]),
      ]}
      done={`${name} is not suspended any more.`}
    />
  );
}

type Place = { readonly id: string; readonly name: string; readonly suspended: Suspension | null };

/** The button of a project or a cluster with its dialog. A project that its cluster holds can be suspended by itself, too. */
export function SuspensionButton({ scope, of }: { readonly scope: "project" | "cluster"; readonly of: Place }) {
  const [isOpen, setOpen] = useState(false);
  const isOwn = of.suspended?.scope === scope;
  const [Icon, label] = isOwn ? [IconHandOff, "Unsuspend"] : [IconHandStop, "Suspend reconciliation"];
  const shared = { scope, name: of.name, address: { id: of.id }, onClose: () => setOpen(false) };
  const Dialogs = () =>
    isOwn ? (
      <UnsuspendDialog {...shared} operation={scope === "project" ? "unsuspendProject" : "unsuspendCluster"} />
    ) : (
      <SuspendDialog {...shared} operation={scope === "project" ? "suspendProject" : "suspendCluster"} />
    );
  return (
    <>
      <Button variant="default" leftSection={<Icon size={16} aria-hidden />} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen ? Dialogs() : null}
    </>
  );
}
