import type { Egress, PriceEstimate, Provider, ProvisioningErrorCode } from "@binnacle/contract";
import type { KubernetesRelease } from "./kubernetes-release.ts";

/**
 * An opened credential: all fields that the contract names for its provider, which knows them by `AccessTo`, and the
 * `organization_id` of its record. The region is that of the cluster, if the provider has regions. It is never logged.
 */
export type CloudAccess = Readonly<Partial<Record<string, string>>>;

/** What the infrastructure of a cluster is to be. */
export interface WantedCluster<Access extends CloudAccess = CloudAccess> {
  readonly id: string;
  readonly jobId: string;
  readonly name: string;
  readonly region: Access["region"];
  readonly instanceType: string;
  readonly diskSizeGb: number;
  readonly agentCount: number;
  readonly sshPublicKey: string;
  /** Tokens for secrets by the name of the node: `control-plane`, `agent-1`, `agent-2` and so on. */
  readonly nodeTokens: Readonly<Record<string, string>>;
  /** Tokens for reports, which can do nothing else. */
  readonly reportTokens: Readonly<Record<string, string>>;
  /** Of the cluster, whatever new clusters get. */
  readonly kubernetes: KubernetesRelease;
  /** Where the control plane puts snapshots of its data. */
  readonly snapshotBucket: string | null;
  /** The snapshot that a new control plane begins with. */
  readonly restoredSnapshot: string | null;
  /** The policy that limits the role of a new control plane. */
  readonly permissionsBoundary: string | null;
  /** How machines reach what is outside of their network; null where nothing is in the way. */
  readonly egress: Egress | null;
  /** The address of the control plane, as new machines reach it. */
  readonly publicUrl: string;
  /** The ranges from which the Kubernetes API and SSH can be reached. */
  readonly adminRanges: readonly string[];
}

/** A resource that carries the tags of a cluster. */
export interface CloudResource {
  /** The type in OpenTofu, such as `aws_instance`; for what Kubernetes made, the cloud's own name of it. */
  readonly type: string;
  /** The id in the cloud, which is also the one to import it by. */
  readonly id: string;
  /** The address in the module, from its tag; null for what the module did not make. */
  readonly address: string | null;
  /** Of a disk that Kubernetes made: it may have data that people want to keep. The claim where the cloud knows it. */
  readonly data?: { readonly claim: string | null };
}

/** The data of a control plane at a moment. */
export interface Snapshot {
  readonly name: string;
  readonly takenAt: string;
}

/** An error that OpenTofu has printed. */
export interface Diagnostic {
  readonly summary: string;
  readonly detail: string;
  readonly address: string | null;
}

export interface ProvisioningFailure {
  readonly code: ProvisioningErrorCode;
  /** A sentence that says what is wrong and what to do. */
  readonly message: string;
}

export interface CheckedPermission {
  readonly action: string;
  /** Null where it cannot be found out. */
  readonly allowed: boolean | null;
}

export interface CheckedQuota {
  readonly name: string;
  readonly limit: number;
  readonly used: number;
}

export interface CheckedAccess {
  /** Who the credential is, such as an ARN. */
  readonly identity: string;
  readonly permissions: readonly CheckedPermission[];
  readonly quotas: readonly CheckedQuota[];
}

/** All that Binnacle needs of a cloud to make clusters in it. Every call ends with the signal. */
export interface CloudProvider<Access extends CloudAccess = CloudAccess> {
  /** The folder of the OpenTofu module. */
  readonly module: string;
  /** The variables of the module. They are written to a file that only the worker can read. */
  variables(wanted: WantedCluster<Access>): Readonly<Record<string, unknown>>;
  /** The address of the machine of a node in the module. */
  machineAddress(node: string): string;
  /** The environment in which OpenTofu reaches the cloud. */
  environment(access: Access): Readonly<Record<string, string>>;
  /** Finds all that carries the tags of the cluster, also what no state knows of. A disk that Kubernetes made says so as `data`. */
  existing(access: Access, clusterId: string, signal: AbortSignal): Promise<readonly CloudResource[]>;
  /** Resolves when none of them exists any more. What is gone already is not an error. */
  remove(access: Access, resources: readonly CloudResource[], signal: AbortSignal): Promise<void>;
  /** The last snapshot that the control plane of a cluster has put into a bucket, or null where there is none. */
  newestSnapshot(access: Access, clusterId: string, bucket: string, signal: AbortSignal): Promise<Snapshot | null>;
  /** Throws `CloudRefusal` where the identity is not known. */
  check(access: Access, signal: AbortSignal): Promise<CheckedAccess>;
  /** Explains why OpenTofu failed. */
  failureOf(diagnostics: readonly Diagnostic[]): ProvisioningFailure;
  /** What the cluster would cost. */
  estimate(wanted: Pick<WantedCluster<Access>, "region" | "instanceType" | "diskSizeGb" | "agentCount">): PriceEstimate;
}

/** The clouds that clusters can be made in. A provider that is not among them is coming soon. */
export type CloudProviders = Readonly<Partial<Record<Provider, CloudProvider>>>;

/** The cloud has refused a call, or could not be reached. */
export class CloudRefusal extends Error {
  override readonly name = "CloudRefusal";
  readonly failure: ProvisioningFailure;
  constructor(failure: ProvisioningFailure) {
    super(failure.message);
    this.failure = failure;
  }
}
