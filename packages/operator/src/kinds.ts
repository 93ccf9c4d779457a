import type { DesiredKind } from "@binnacle/contract";
import { addonKind } from "./addon/addon-kind.reconciler.ts";
import { appKind } from "./app/app-kind.reconciler.ts";
import { projectKind } from "./project/project-kind.reconciler.ts";
import { pullSecretsKind } from "./pull-secrets/pull-secrets-kind.reconciler.ts";
import type { DispatchedKind } from "./reconcile/kind.ts";

const LIST = [projectKind, pullSecretsKind, addonKind, appKind] as const;

type PortsOf<Kind> = Kind extends { reconciler(ports: infer P, ...rest: never[]): unknown }
  ? (ports: P) => void
  : never;

/** The ports of all kinds together. */
export type KindPorts = PortsOf<(typeof LIST)[number]> extends (ports: infer P) => void ? P : never;

/** Every kind of resource that the hub dispatches. A new kind is a folder and one entry here. */
export const KINDS: readonly DispatchedKind<DesiredKind, KindPorts>[] = LIST;
