import type { AccessTo } from "@binnacle/contract";
import type { Snapshot, WantedCluster } from "../provider.ts";

export type AwsAccess = AccessTo<"aws"> & { readonly organization_id?: string };
export type AwsCluster = WantedCluster<AwsAccess>;

/** The names of what cannot be found by tags, and what the module calls it. */
export const roleName = (clusterId: string) => `binnacle-${clusterId}-control-plane`;
export const profileName = (clusterId: string) => `binnacle-${clusterId}-control-plane-profile`;
export const POLICY_NAME = "kubernetes";
export const CLUSTER_TAG = "binnacle:cluster";
export const ADDRESS_TAG = "binnacle:address";
export const kubernetesTag = (clusterId: string) => `kubernetes.io/cluster/${clusterId}`;

export function variables(wanted: AwsCluster): Readonly<Record<string, unknown>> {
  const { egress, kubernetes } = wanted;
  return {
    cluster_id: wanted.id,
    job_id: wanted.jobId,
    name: wanted.name,
    region: wanted.region,
    instance_type: wanted.instanceType,
    disk_size_gb: wanted.diskSizeGb,
    agent_count: wanted.agentCount,
    ssh_public_key: wanted.sshPublicKey,
    node_tokens: wanted.nodeTokens,
    report_tokens: wanted.reportTokens,
    public_url: wanted.publicUrl,
    admin_ranges: wanted.adminRanges,
    k3s_version: kubernetes.version,
    k3s_sha256: kubernetes.sha256,
    k3s_images_sha256: kubernetes.images ?? {},
    k3s_url: egress?.k3s_url ?? "",
    proxy: egress?.proxy ?? "",
    no_proxy: egress?.no_proxy ?? [],
    chart_repository: egress?.chart_repository ?? "",
    has_ca_certificates: egress?.ca_certificates !== undefined,
    snapshot_bucket: wanted.snapshotBucket ?? "",
    restored_snapshot: wanted.restoredSnapshot ?? "",
    permissions_boundary: wanted.permissionsBoundary ?? "",
  };
}

export const machineAddress = (node: string): string =>
  node === "control-plane" ? "aws_instance.control_plane" : `aws_instance.agent["${node}"]`;

/**
 * Who acts as a role of another account asks for it with an external id that the owner of the role has been told, and that no other
 * customer can choose: the organization. An empty one is refused by AWS.
 */
export const assumedRole = ({ role_arn, organization_id }: AwsAccess) =>
  role_arn ? { arn: role_arn, externalId: organization_id ?? "" } : null;

/**
 * Nothing of the machine that runs OpenTofu counts: no profile, no configuration, no role of the machine itself. OpenTofu assumes a
 * role itself, because it renews the session of one: a run may take longer than a session lives.
 */
export function environment(access: AwsAccess, endpoint: string | undefined): Readonly<Record<string, string>> {
  const role = assumedRole(access);
  return {
    ...(role ? { TF_VAR_role_arn: role.arn, TF_VAR_external_id: role.externalId } : {}),
    AWS_ACCESS_KEY_ID: access.access_key_id,
    AWS_SECRET_ACCESS_KEY: access.secret_access_key,
    AWS_REGION: access.region,
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    AWS_EC2_METADATA_DISABLED: "true",
    ...(endpoint === undefined ? {} : { AWS_ENDPOINT_URL: endpoint }),
  };
}

export type AwsService =
  | "ec2"
  | "elasticloadbalancing"
  | "elasticloadbalancingv2"
  | "iam"
  | "s3"
  | "servicequotas"
  | "sts";

/** Where a service is reached. IAM is one for all regions of a partition, and signed for its home region. */
export function endpointOf(service: AwsService, region: string): { readonly url: string; readonly region: string } {
  const host = service === "elasticloadbalancingv2" ? "elasticloadbalancing" : service;
  const suffix = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  if (service !== "iam") return { url: `https://${host}.${region}.${suffix}`, region };
  if (region.startsWith("cn-")) return { url: `https://iam.cn-north-1.${suffix}`, region: "cn-north-1" };
  if (region.startsWith("us-gov-")) return { url: `https://iam.us-gov.${suffix}`, region: "us-gov-west-1" };
  return { url: `https://iam.${suffix}`, region: "us-east-1" };
}

/** Only a name of this form becomes part of an address, so that a secret is never signed for another host. */
export const isRegion = (region: string) => /^[a-z]{2}(-[a-z]+)+-\d{1,2}$/.test(region);

/** Every action that the module and the removal of leftovers use. The documented policy allows exactly these. */
export const NEEDED_ACTIONS: readonly string[] = [
  "ec2:AttachInternetGateway",
  "ec2:AuthorizeSecurityGroupEgress",
  "ec2:AuthorizeSecurityGroupIngress",
  "ec2:CreateInternetGateway",
  "ec2:CreateRoute",
  "ec2:CreateSecurityGroup",
  "ec2:CreateSubnet",
  "ec2:CreateTags",
  "ec2:CreateVpc",
  "ec2:DeleteInternetGateway",
  "ec2:DeleteKeyPair",
  "ec2:DeleteNetworkInterface",
  "ec2:DeleteRoute",
  "ec2:DeleteSecurityGroup",
  "ec2:DeleteSubnet",
  "ec2:DeleteTags",
  "ec2:DeleteVolume",
  "ec2:DeleteVpc",
  "ec2:DescribeAvailabilityZones",
  "ec2:DescribeImages",
  "ec2:DescribeInstanceAttribute",
  "ec2:DescribeInstanceCreditSpecifications",
  "ec2:DescribeInstanceTypeOfferings",
  "ec2:DescribeInstanceTypes",
  "ec2:DescribeInstances",
  "ec2:DescribeInternetGateways",
  "ec2:DescribeKeyPairs",
  "ec2:DescribeNetworkAcls",
  "ec2:DescribeNetworkInterfaces",
  "ec2:DescribeRouteTables",
  "ec2:DescribeSecurityGroupRules",
  "ec2:DescribeSecurityGroups",
  "ec2:DescribeSubnets",
  "ec2:DescribeTags",
  "ec2:DescribeVolumes",
  "ec2:DescribeVpcAttribute",
  "ec2:DescribeVpcs",
  "ec2:DetachInternetGateway",
  "ec2:DetachVolume",
  "ec2:GetInstanceUefiData",
  "ec2:ImportKeyPair",
  "ec2:ModifyInstanceAttribute",
  "ec2:ModifyInstanceMetadataOptions",
  "ec2:ModifySecurityGroupRules",
  "ec2:ModifySubnetAttribute",
  "ec2:ModifyVpcAttribute",
  "ec2:ReplaceRoute",
  "ec2:RevokeSecurityGroupEgress",
  "ec2:RevokeSecurityGroupIngress",
  "ec2:RunInstances",
  "ec2:TerminateInstances",
  "elasticloadbalancing:DeleteLoadBalancer",
  "elasticloadbalancing:DescribeLoadBalancers",
  "iam:AddRoleToInstanceProfile",
  "iam:CreateInstanceProfile",
  "iam:CreateRole",
  "iam:DeleteInstanceProfile",
  "iam:DeleteRole",
  "iam:DeleteRolePolicy",
  "iam:GetInstanceProfile",
  "iam:GetRole",
  "iam:GetRolePolicy",
  "iam:ListAttachedRolePolicies",
  "iam:ListInstanceProfilesForRole",
  "iam:ListRolePolicies",
  "iam:PassRole",
  "iam:PutRolePolicy",
  "iam:RemoveRoleFromInstanceProfile",
  "iam:TagInstanceProfile",
  "iam:TagRole",
  "sts:GetCallerIdentity",
];

/**
 * The newest of the objects that k3s has put into the folder of a cluster. Its notes on snapshots are in a folder within; the name
 * becomes part of a command, so one of another form is none.
 */
export function newestOf(
  clusterId: string,
  objects: readonly { readonly key: string; readonly at: string }[],
): Snapshot | null {
  const prefix = `${clusterId}/`;
  const found = objects.flatMap(({ key, at }) => {
    const name = key.startsWith(prefix) ? key.slice(prefix.length) : "";
    return /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name) ? [{ name, takenAt: at }] : [];
  });
  return found.toSorted((one, other) => Date.parse(other.takenAt) - Date.parse(one.takenAt))[0] ?? null;
}

/** Permissions are simulated for the user or the role behind a session; those of the root user cannot be. */
export function simulatedPrincipal(arn: string): string | null {
  const session = /^arn:([\w-]+):sts::(\d+):assumed-role\/([^/]+)\//.exec(arn);
  if (session) return `arn:${session[1]}:iam::${session[2]}:role/${session[3]}`;
  return /:(user|role)\//.test(arn) ? arn : null;
}

/** As Kubernetes names them: an `a` and the id of the Service. */
const LOAD_BALANCER = `a${"0".repeat(31)}`;

/**
 * Which actions to simulate on which resource: the policy of a credential may allow some only for names of clusters and of
 * Kubernetes, and would look like one that denies them.
 */
export function simulations(
  principal: string,
  region: string,
): readonly { readonly resource: string; readonly actions: readonly string[] }[] {
  const [account = "", partition = "", id = ""] = /^arn:([\w-]+):iam::(\d+):/.exec(principal) ?? [];
  const resourceOf = (action: string) => {
    if (action === "elasticloadbalancing:DeleteLoadBalancer")
      return `arn:${partition}:elasticloadbalancing:${region}:${id}:loadbalancer/${LOAD_BALANCER}`;
    if (!action.startsWith("iam:")) return "*";
    return /Profile$/.test(action)
      ? `${account}instance-profile/${profileName("check")}`
      : `${account}role/${roleName("check")}`;
  };
  const byResource = Map.groupBy(NEEDED_ACTIONS, resourceOf);
  return [...byResource].map(([resource, actions]) => ({ resource, actions }));
}

/** What the conditions of policies compare with: a change of a cluster, as OpenTofu asks for it. */
export function simulatedContext(access: Pick<AwsAccess, "region" | "permissions_boundary">) {
  return {
    "iam:PassedToService": "ec2.amazonaws.com",
    "aws:RequestedRegion": access.region,
    [`aws:RequestTag/${CLUSTER_TAG}`]: "check",
    [`aws:ResourceTag/${CLUSTER_TAG}`]: "check",
    ...(access.permissions_boundary ? { "iam:PermissionsBoundary": access.permissions_boundary } : {}),
  };
}

const RANKS = [
  "aws_instance",
  "classic-load-balancer",
  "load-balancer",
  "volume",
  "network-interface",
  "aws_vpc_security_group_ingress_rule",
  "aws_vpc_security_group_egress_rule",
  "aws_security_group",
  "security-group",
  "aws_subnet",
  "aws_internet_gateway",
  "aws_vpc",
  "aws_iam_instance_profile",
  "aws_iam_role_policy",
  "aws_iam_role",
  "aws_key_pair",
];

/** What depends on others goes before them. */
export const removalOrder = <T extends { readonly type: string }>(resources: readonly T[]): readonly T[] =>
  resources.toSorted((one, other) => RANKS.indexOf(one.type) - RANKS.indexOf(other.type));

const GONE = /NotFound|NoSuchEntity|\.Malformed$/;
/** Codes that pass when what depends on a resource is gone. */
const IN_THE_WAY = new Set([
  "DeleteConflict",
  "DependencyViolation",
  "IncorrectInstanceState",
  "IncorrectState",
  "InvalidNetworkInterface.InUse",
  "ResourceInUse",
  "ResourceInUseException",
  "VolumeInUse",
]);

export const isGone = (code: string) => GONE.test(code);
/** EC2 has no code of its own for a network interface that is in use. */
export const isInTheWay = (type: string, code: string) =>
  IN_THE_WAY.has(code) || (type === "network-interface" && code === "InvalidParameterValue");

export function leftoversFailure(
  left: readonly { readonly type: string; readonly id: string; readonly reason: string }[],
) {
  const names = left.map(({ type, id, reason }) => `${type} ${id} (${reason})`).join(", ");
  return {
    code: "leftovers",
    message: `AWS does not let these go: ${names}. Remove what depends on them in the account, then retry the job.`,
  } as const;
}
