import type { AppBody, DesiredComponent, InvalidReason, PodSecurity } from "@binnacle/contract";
import type { KubeObject } from "../../kube/kube-client.ts";

/** The result of rendering an app, and the inputs besides its spec. */

export type AppSpec = AppBody["spec"];
export type Workload = NonNullable<DesiredComponent["workload_spec"]>;

/** A value that a component gives to others; one that is secret stays where it is and is pointed at. */
export type Export = { readonly value: string } | SecretExport;
export interface SecretExport {
  readonly secret: { readonly name: string; readonly key: string };
  /** Changes with the value, so that pods that were started with the old one are replaced. */
  readonly checksum?: string;
}
export type Exports = Readonly<Record<string, Export>>;

/** Something that exports: every key that it will ever have, and those exports that are known by now. */
export interface Publisher {
  readonly keys: readonly string[];
  readonly exports: Exports;
}

export interface Surroundings {
  readonly clusterId: string;
  /** Secrets of the namespace that images are pulled with. */
  readonly pullSecrets: readonly string[];
  /** The level that pods of the namespace are held to. */
  readonly podSecurity: PodSecurity;
  /** Standalone addon instances of the namespace, by name. */
  readonly instances: ReadonlyMap<string, Publisher>;
  /** The known exports of the releases of the app's own components, by component. */
  readonly releases: ReadonlyMap<string, Exports>;
}

export interface Invalid {
  readonly invalid: InvalidReason;
  /** One sentence for people: which component, which field. */
  readonly message: string;
  /** The addon instance that would make it valid, where one would. */
  readonly awaits?: string;
}

export interface RenderedComponent {
  readonly name: string;
  readonly type: DesiredComponent["type"];
  /** Components of the app that must be ready before this one is applied. */
  readonly needs: readonly string[];
  /** Those of wave 0 need nothing, those of every other wave something of the one before. */
  readonly wave: number;
  /** In the order in which they are applied. None for an addon; of a chart the Secret beside it. */
  readonly objects: readonly KubeObject[];
  /**
   * Exports, as `db.url`, that are not known yet. While there are any there are no objects, which says nothing about
   * objects of an earlier generation: they stay as they are.
   */
  readonly waitingFor: readonly string[];
}

export interface RenderedApp {
  /** In the order of their waves. */
  readonly components: readonly RenderedComponent[];
}
export type Rendering = RenderedApp | Invalid;

export const isInvalid = (rendering: Rendering): rendering is Invalid => "invalid" in rendering;
