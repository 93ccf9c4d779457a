import type { ChartRef, DesiredComponent, Reason } from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";
import type { WorkloadCounts } from "../kube/workload-counts.ts";
import type { Circumstances, ComponentPlan } from "./component-plan.ts";
import type { Exports, Publisher } from "./render/rendering.ts";

/** The port through which apps use Helm. */

type ExportSchema = NonNullable<DesiredComponent["release"]>["export_schema"];

/** The chart of a component as it is to be installed. */
export interface WantedRelease {
  readonly clusterId: string;
  readonly projectId: string;
  readonly namespace: string;
  readonly app: string;
  readonly component: string;
  /** Of the release; its exports that are secret are kept in the Secret `<name>-exports`. */
  readonly name: string;
  readonly chart: ChartRef;
  readonly exportSchema: ExportSchema;
  readonly hookTimeoutSeconds?: number | undefined;
  readonly values: Readonly<Record<string, unknown>>;
}

export interface DeletedRelease extends Pick<WantedRelease, "namespace" | "name" | "app"> {
  readonly chart: Pick<ChartRef, "repo" | "name"> | null;
}

export interface ReleaseState extends ReleaseDrift {
  readonly state: "ready" | "progressing" | "failed" | "unknown";
  /** One word for programs, where there is one. */
  readonly reason?: Reason | null;
  /** Shown to people; null where there is no message. */
  readonly message: string | null;
  /** Those that are known by now. */
  readonly exports: Exports;
  /** Of all its workloads together, as they were last counted. */
  readonly counts: WorkloadCounts;
  readonly pods: readonly KubeObject[];
}

/** The manual changes to the objects of a release. */
export interface ReleaseDrift {
  readonly drifted: ComponentPlan["drifted"];
  readonly healed: ComponentPlan["healed"];
  readonly blocked: ComponentPlan["blocked"];
  /** Every object was compared with the manifest of the release. */
  readonly isCertain: boolean;
}

export interface EnsureOptions extends Circumstances {
  /** Take over fields that other managers declare. */
  readonly takeOver: boolean;
}

export interface Instance extends Publisher {
  readonly state: ReleaseState["state"];
  readonly reason?: Reason | null;
  readonly message: string | null;
  readonly counts: WorkloadCounts;
}

export interface Releases {
  /**
   * Installs or upgrades the release where needed, heals its objects and returns its state. Does not wait for its pods: while the state is
   * `progressing`, call again.
   */
  ensure(wanted: WantedRelease, options: EnsureOptions): Promise<ReleaseState>;
  /** Returns its state, and lets no further step of Helm begin until it is ensured again. */
  hold(wanted: WantedRelease): Promise<ReleaseState>;
  /**
   * Uninstalls it; `gone` once nothing of it is left, also where there never was one. The chart that it was made of decides
   * about the rights, where it is known.
   */
  remove(release: DeletedRelease): Promise<"removing" | "gone">;
  /** The standalone addon instances of a namespace, by name. */
  instances(namespace: string): Promise<ReadonlyMap<string, Instance>>;
  /** Calls with the namespace whenever an instance or a release there may be otherwise than before, and with the app whose release it is. */
  onChange(listener: (namespace: string, app: string | null) => void): () => void;
}
