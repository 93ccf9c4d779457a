import { addressOfTag } from "../address.ts";
import type { CloudResource } from "../provider.ts";
import { ADDRESS_TAG, CLUSTER_TAG, kubernetesTag, POLICY_NAME, profileName, roleName } from "./aws.ts";
import { AwsError, at, itemsAt, type Query, textAt, type Xml } from "./aws-query.adapter.ts";

/** The rule to anywhere that AWS puts into a new group. The module removes it, and one left by a crash is in its way. */
const ADDED_BY_AWS = "aws_vpc_security_group_egress_rule.added_by_aws";

/**
 * Everything of a cluster: what the module made, by its tags and names, and what Kubernetes made, by its tag or because it
 * is in the network of the cluster. The route table and the group that come with a network go with it.
 */
export async function inventory(query: Query, clusterId: string): Promise<readonly CloudResource[]> {
  const ours = { name: `tag:${CLUSTER_TAG}`, values: [clusterId] };
  const kubernetes = { name: `tag:${kubernetesTag(clusterId)}`, values: ["owned"] };
  const [networks, gateways, subnets, groups, keys, machines, disks, volumes, identity] = await Promise.all([
    described(query, "DescribeVpcs", "vpcSet", ours),
    described(query, "DescribeInternetGateways", "internetGatewaySet", ours),
    described(query, "DescribeSubnets", "subnetSet", ours),
    described(query, "DescribeSecurityGroups", "securityGroupInfo", ours),
    described(query, "DescribeKeyPairs", "keySet", ours),
    described(query, "DescribeInstances", "reservationSet", ours),
    described(query, "DescribeVolumes", "volumeSet", ours),
    described(query, "DescribeVolumes", "volumeSet", kubernetes),
    identityOf(query, clusterId),
  ]);
  const networkIds = networks.map((network) => textAt(network, "vpcId") ?? "");
  const ownGroups = groups.filter((group) => textAt(group, "groupName") !== "default");
  const [rules, inNetworks] = await Promise.all([
    rulesOf(
      query,
      ownGroups.map((group) => textAt(group, "groupId") ?? ""),
    ),
    besideIn(query, networkIds, new Set(ownGroups.map((group) => textAt(group, "groupId")))),
  ]);
  return distinct([
    ...machines.flatMap((reservation) => itemsAt(reservation, "instancesSet")).flatMap(machine),
    ...[...disks.filter(isLeft), ...volumes].filter((one) => !isGoing(one)).map(disk),
    ...inNetworks,
    ...rules,
    ...ownGroups.map((group) => tagged("aws_security_group", "groupId", group)),
    ...subnets.map((subnet) => tagged("aws_subnet", "subnetId", subnet)),
    ...gateways.map((gateway) => tagged("aws_internet_gateway", "internetGatewayId", gateway)),
    ...networks.map((network) => tagged("aws_vpc", "vpcId", network)),
    ...identity,
    ...keys.map((key) => tagged("aws_key_pair", "keyName", key)),
  ]);
}

interface Filter {
  readonly name: string;
  readonly values: readonly string[];
}

/** All pages of an answer. */
export async function described(query: Query, action: string, list: string, filter: Filter): Promise<readonly Xml[]> {
  if (filter.values.length === 0) return [];
  const values = filter.values.map((value, index) => [`Filter.1.Value.${index + 1}`, value] as const);
  const found: Xml[] = [];
  for (let token: string | null = ""; token !== null; ) {
    const page = await query("ec2", action, {
      "Filter.1.Name": filter.name,
      ...Object.fromEntries(values),
      ...(token === "" ? {} : { NextToken: token }),
    });
    found.push(...itemsAt(page, list));
    token = textAt(page, "nextToken") || null;
  }
  return found;
}

const tagOf = (element: Xml, key: string) =>
  textAt(
    [...itemsAt(element, "tagSet"), ...itemsAt(element, "Tags")].find(
      (tag) => (textAt(tag, "key") ?? textAt(tag, "Key")) === key,
    ),
    "value",
  );

const tagged = (type: string, id: string, element: Xml): CloudResource => ({
  type,
  id: textAt(element, id) ?? "",
  address: addressOfTag(tagOf(element, ADDRESS_TAG)),
});

const beside = (type: string, id: string) => (element: Xml) => ({ type, id: textAt(element, id) ?? "", address: null });

/** A machine that is being terminated cannot be imported, and one that is terminated is gone. */
function machine(element: Xml): readonly CloudResource[] {
  const state = textAt(element, "instanceState", "name");
  if (state === "terminated") return [];
  const resource = tagged("aws_instance", "instanceId", element);
  return [state === "shutting-down" ? { ...resource, address: null } : resource];
}

/** The disk of a machine has no address: it goes with the machine, and is a resource only where it was left behind. */
const isLeft = (disk: Xml) => textAt(disk, "status") !== "in-use";
const isGoing = (volume: Xml) => ["deleting", "deleted"].includes(textAt(volume, "status") ?? "");

/** The tags that Kubernetes and its drivers give to the disks that they make. Disks of machines have none of them. */
const OF_KUBERNETES = /^(kubernetes\.io\/|ebs\.csi\.aws\.com\/|CSIVolumeName$)/;

function disk(element: Xml): CloudResource {
  const found = beside("volume", "volumeId")(element);
  const isOfKubernetes = itemsAt(element, "tagSet").some((tag) => OF_KUBERNETES.test(textAt(tag, "key") ?? ""));
  if (!isOfKubernetes) return found;
  const namespace = tagOf(element, "kubernetes.io/created-for/pvc/namespace");
  const name = tagOf(element, "kubernetes.io/created-for/pvc/name");
  return { ...found, data: { claim: namespace && name ? `${namespace}/${name}` : null } };
}

async function rulesOf(query: Query, groupIds: readonly string[]): Promise<readonly CloudResource[]> {
  const rules = await described(query, "DescribeSecurityGroupRules", "securityGroupRuleSet", {
    name: "group-id",
    values: groupIds,
  });
  return rules.flatMap((rule) => {
    const isEgress = textAt(rule, "isEgress") === "true";
    const type = isEgress ? "aws_vpc_security_group_egress_rule" : "aws_vpc_security_group_ingress_rule";
    const resource = tagged(type, "securityGroupRuleId", rule);
    if (resource.address !== null) return [resource];
    const isToAnywhere = textAt(rule, "ipProtocol") === "-1" && textAt(rule, "cidrIpv4") === "0.0.0.0/0";
    // The cloud controller adds further rules without tags, which go with the group.
    return isEgress && isToAnywhere && tagOf(rule, CLUSTER_TAG) === null
      ? [{ ...resource, address: ADDED_BY_AWS }]
      : [];
  });
}

/** What is in the networks without being of the module: it would keep them from going. */
async function besideIn(
  query: Query,
  networkIds: readonly string[],
  own: ReadonlySet<string | null>,
): Promise<readonly CloudResource[]> {
  if (networkIds.length === 0) return [];
  const inNetworks = { name: "vpc-id", values: networkIds };
  const [groups, interfaces, classic, modern] = await Promise.all([
    described(query, "DescribeSecurityGroups", "securityGroupInfo", inNetworks),
    described(query, "DescribeNetworkInterfaces", "networkInterfaceSet", inNetworks),
    balancers(query, "elasticloadbalancing", "LoadBalancerDescriptions"),
    balancers(query, "elasticloadbalancingv2", "LoadBalancers"),
  ]);
  const isHere = (element: Xml, name: string) => networkIds.includes(textAt(element, name) ?? "");
  return [
    ...classic.filter((one) => isHere(one, "VPCId")).map(beside("classic-load-balancer", "LoadBalancerName")),
    ...modern.filter((one) => isHere(one, "VpcId")).map(beside("load-balancer", "LoadBalancerArn")),
    // Those in use belong to a machine or a load balancer.
    ...interfaces
      .filter((one) => textAt(one, "status") === "available")
      .map(beside("network-interface", "networkInterfaceId")),
    ...groups
      .filter((one) => textAt(one, "groupName") !== "default" && !own.has(textAt(one, "groupId")))
      .map(beside("security-group", "groupId")),
  ];
}

async function balancers(query: Query, service: "elasticloadbalancing" | "elasticloadbalancingv2", list: string) {
  const found: Xml[] = [];
  for (let marker: string | null = ""; marker !== null; ) {
    const answer = await query(service, "DescribeLoadBalancers", marker === "" ? {} : { Marker: marker });
    const page = at(answer, "DescribeLoadBalancersResult");
    found.push(...itemsAt(page, list));
    marker = textAt(page, "NextMarker") || null;
  }
  return found;
}

/** Roles and profiles have names of the cluster. A policy has no id but these of its role and its own. */
async function identityOf(query: Query, clusterId: string): Promise<readonly CloudResource[]> {
  const RoleName = roleName(clusterId);
  const InstanceProfileName = profileName(clusterId);
  const [role, policies, profile] = await Promise.all([
    unlessGone(query("iam", "GetRole", { RoleName })),
    unlessGone(query("iam", "ListRolePolicies", { RoleName })),
    unlessGone(query("iam", "GetInstanceProfile", { InstanceProfileName })),
  ]);
  const hasPolicy = itemsAt(policies, "ListRolePoliciesResult", "PolicyNames").includes(POLICY_NAME);
  const resource = (type: string, id: string) => ({ type, id, address: `${type}.control_plane` });
  return [
    ...(profile === null ? [] : [resource("aws_iam_instance_profile", InstanceProfileName)]),
    ...(hasPolicy ? [resource("aws_iam_role_policy", `${RoleName}:${POLICY_NAME}`)] : []),
    ...(role === null ? [] : [resource("aws_iam_role", RoleName)]),
  ];
}

async function unlessGone(answer: Promise<Xml>): Promise<Xml | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AwsError && /NotFound|NoSuchEntity/.test(error.code)) return null;
    throw error;
  }
}

function distinct(resources: readonly CloudResource[]): readonly CloudResource[] {
  return [...new Map(resources.map((resource) => [`${resource.type} ${resource.id}`, resource])).values()];
}
