import { setTimeout as sleep } from "node:timers/promises";
import { CloudRefusal, type CloudResource } from "../provider.ts";
import { isGone, isInTheWay, leftoversFailure, removalOrder } from "./aws.ts";
import { described } from "./aws-inventory.adapter.ts";
import { AwsError, at, itemsAt, type Query, textAt } from "./aws-query.adapter.ts";

export interface RemovalOptions {
  readonly pollMs: number;
  /** How long to try without any resource going. */
  readonly patienceMs: number;
}

/**
 * Removes resources until none is left. AWS refuses to delete what others depend on, and tells of machines that are gone
 * only after a while, so each is tried again, until nothing goes any more or the signal ends.
 */
export async function removeAll(
  query: Query,
  resources: readonly CloudResource[],
  options: RemovalOptions,
  signal: AbortSignal,
): Promise<void> {
  let left = removalOrder(resources);
  for (let waitedMs = 0; ; waitedMs += options.pollMs) {
    const kept: (CloudResource & { readonly reason: string })[] = [];
    for (const resource of left) {
      signal.throwIfAborted();
      const reason = await reasonToStay(query, resource);
      if (reason !== null) kept.push({ ...resource, reason });
    }
    if (kept.length === 0) return;
    if (kept.length < left.length) waitedMs = 0;
    if (waitedMs >= options.patienceMs) throw new CloudRefusal(leftoversFailure(kept));
    left = kept;
    await sleep(options.pollMs, undefined, { signal });
  }
}

/** Null when it is gone. Throws where trying again does not help. */
async function reasonToStay(query: Query, resource: CloudResource): Promise<string | null> {
  try {
    return (await removed(query, resource)) ? null : "still there";
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    if (isGone(error.code)) return null;
    if (isInTheWay(resource.type, error.code)) return error.code;
    throw error;
  }
}

async function removed(query: Query, { type, id }: CloudResource): Promise<boolean> {
  switch (type) {
    case "aws_instance": {
      const answer = await query("ec2", "TerminateInstances", { "InstanceId.1": id });
      const states = itemsAt(answer, "instancesSet").flatMap((one) => [
        at(one, "previousState"),
        at(one, "currentState"),
      ]);
      return states.some((state) => textAt(state, "name") === "terminated");
    }
    case "classic-load-balancer":
      await query("elasticloadbalancing", "DeleteLoadBalancer", { LoadBalancerName: id });
      return true;
    case "load-balancer":
      await query("elasticloadbalancingv2", "DeleteLoadBalancer", { LoadBalancerArn: id });
      return true;
    case "volume":
      return removeVolume(query, id);
    case "network-interface":
      await query("ec2", "DeleteNetworkInterface", { NetworkInterfaceId: id });
      return true;
    case "aws_vpc_security_group_ingress_rule":
    case "aws_vpc_security_group_egress_rule":
      return removeRule(query, id);
    case "aws_security_group":
    case "security-group":
      await revokeReferences(query, id);
      await query("ec2", "DeleteSecurityGroup", { GroupId: id });
      return true;
    case "aws_subnet":
      await query("ec2", "DeleteSubnet", { SubnetId: id });
      return true;
    case "aws_internet_gateway":
      return removeGateway(query, id);
    case "aws_vpc":
      await query("ec2", "DeleteVpc", { VpcId: id });
      return true;
    case "aws_iam_instance_profile":
      await emptyProfile(query, id);
      await query("iam", "DeleteInstanceProfile", { InstanceProfileName: id });
      return true;
    case "aws_iam_role_policy": {
      const [RoleName = "", PolicyName = ""] = id.split(":");
      await query("iam", "DeleteRolePolicy", { RoleName, PolicyName });
      return true;
    }
    case "aws_iam_role":
      await query("iam", "DeleteRole", { RoleName: id });
      return true;
    case "aws_key_pair":
      await query("ec2", "DeleteKeyPair", { KeyName: id });
      return true;
    default:
      throw new TypeError(`Nothing is known about how to remove a ${type}.`);
  }
}

/** A volume of Kubernetes may be attached to a machine that goes later. */
async function removeVolume(query: Query, VolumeId: string): Promise<boolean> {
  try {
    await query("ec2", "DeleteVolume", { VolumeId });
    return true;
  } catch (error) {
    if (!(error instanceof AwsError) || error.code !== "VolumeInUse") throw error;
    const [volume] = await described(query, "DescribeVolumes", "volumeSet", { name: "volume-id", values: [VolumeId] });
    for (const attachment of itemsAt(volume, "attachmentSet")) {
      const InstanceId = textAt(attachment, "instanceId") ?? "";
      await query("ec2", "DetachVolume", { VolumeId, InstanceId, Force: "true" });
    }
    return false;
  }
}

async function removeRule(query: Query, id: string): Promise<boolean> {
  const rules = await described(query, "DescribeSecurityGroupRules", "securityGroupRuleSet", {
    name: "security-group-rule-id",
    values: [id],
  });
  const rule = rules.find((one) => textAt(one, "securityGroupRuleId") === id);
  if (rule === undefined) return true;
  const direction = textAt(rule, "isEgress") === "true" ? "Egress" : "Ingress";
  await query("ec2", `RevokeSecurityGroup${direction}`, {
    GroupId: textAt(rule, "groupId") ?? "",
    "SecurityGroupRuleId.1": id,
  });
  return true;
}

/** A group stays while a rule of another group names it, as those of load balancers do. */
async function revokeReferences(query: Query, groupId: string): Promise<void> {
  const others = await described(query, "DescribeSecurityGroups", "securityGroupInfo", {
    name: "ip-permission.group-id",
    values: [groupId],
  });
  const rules = await described(query, "DescribeSecurityGroupRules", "securityGroupRuleSet", {
    name: "group-id",
    values: others.map((other) => textAt(other, "groupId") ?? "").filter((other) => other !== groupId),
  });
  for (const rule of rules) {
    if (textAt(rule, "referencedGroupInfo", "groupId") !== groupId || textAt(rule, "isEgress") === "true") continue;
    await query("ec2", "RevokeSecurityGroupIngress", {
      GroupId: textAt(rule, "groupId") ?? "",
      "SecurityGroupRuleId.1": textAt(rule, "securityGroupRuleId") ?? "",
    });
  }
}

async function removeGateway(query: Query, id: string): Promise<boolean> {
  const gateways = await described(query, "DescribeInternetGateways", "internetGatewaySet", {
    name: "internet-gateway-id",
    values: [id],
  });
  for (const attachment of gateways.flatMap((gateway) => itemsAt(gateway, "attachmentSet"))) {
    const VpcId = textAt(attachment, "vpcId");
    if (VpcId) await query("ec2", "DetachInternetGateway", { InternetGatewayId: id, VpcId });
  }
  await query("ec2", "DeleteInternetGateway", { InternetGatewayId: id });
  return true;
}

async function emptyProfile(query: Query, InstanceProfileName: string): Promise<void> {
  const answer = await query("iam", "GetInstanceProfile", { InstanceProfileName });
  for (const role of itemsAt(answer, "GetInstanceProfileResult", "InstanceProfile", "Roles")) {
    const RoleName = textAt(role, "RoleName") ?? "";
    await query("iam", "RemoveRoleFromInstanceProfile", { InstanceProfileName, RoleName });
  }
}
