import type { PriceEstimate, Provider, ProvisioningErrorCode } from "@binnacle/contract";

/** The opened secret of a cloud credential. It is never logged. */
export interface CloudAccess {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** What the infrastructure of a cluster is to be. */
export interface WantedCluster {
  readonly id: string;
  readonly jobId: string;
  readonly name: string;
  readonly region: string;
  readonly instanceType: string;
  readonly diskSizeGb: number;
  readonly agentCount: number;
  readonly sshPublicKey: string;
  /** Tokens for secrets by the name of the node: `control-plane`, `agent-1`, `agent-2` and so on. */
  readonly nodeTokens: Readonly<Record<string, string>>;
  /** Tokens for reports, which can do nothing else. */
  readonly reportTokens: Readonly<Record<string, string>>;
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
export interface CloudProvider {
  /** The folder of the OpenTofu module. */
  readonly module: string;
  /** The variables of the module. They are written to a file that only the worker can read. */
  variables(wanted: WantedCluster): Readonly<Record<string, unknown>>;
  /** The address of the machine of a node in the module. */
  machineAddress(node: string): string;
  /** The environment in which OpenTofu reaches the cloud. */
  environment(access: CloudAccess): Readonly<Record<string, string>>;
  /** Finds all that carries the tags of the cluster, also what no state knows of. */
  existing(access: CloudAccess, clusterId: string, signal: AbortSignal): Promise<readonly CloudResource[]>;
  /** Resolves when none of them exists any more. What is gone already is no error. */
  remove(access: CloudAccess, resources: readonly CloudResource[], signal: AbortSignal): Promise<void>;
  /** Throws `CloudRefusal` where the identity is not known. */
  check(access: CloudAccess, signal: AbortSignal): Promise<CheckedAccess>;
  /** Explains why OpenTofu failed. */
  failureOf(diagnostics: readonly Diagnostic[]): ProvisioningFailure;
  /** What the cluster would cost. */
  estimate(wanted: Pick<WantedCluster, "region" | "instanceType" | "diskSizeGb" | "agentCount">): PriceEstimate;
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
