import type { Question } from "./policy.ts";

/**
 * What OpenTofu and Binnacle ask of AWS, by the resources that AWS decides about. `existing` is of a cluster and has its tags; `created` gets
 * them with the request; `untagged` has none, and needs none.
 */
export interface Request {
  readonly action: string;
  readonly existing?: readonly string[];
  readonly created?: readonly string[];
  readonly untagged?: readonly string[];
  readonly context?: Question["context"];
}

export const CLUSTER = "0192f0c1-2d3e-7f45-8a6b-9c0d1e2f3a4b";
export const BOUNDARY = "arn:aws:iam::123456789012:policy/binnacle-boundary";
const ROLE = `role/binnacle-${CLUSTER}-control-plane`;
const PROFILE = `instance-profile/binnacle-${CLUSTER}-control-plane-profile`;
const BALANCERS = [
  "loadbalancer/a0192f0c12d3e7f458a6b9c0d1e2f3a4",
  "loadbalancer/net/a0192f0c12d3e7f458a6b9c0d1e2f3a4/50dc6c495c0c9188",
];
const adopted = (address: string) => ({
  "aws:RequestTag/binnacle:cluster": CLUSTER,
  "aws:RequestTag/binnacle:address": `${address}.cluster`,
});

/** The name of a resource as AWS writes it in policies. */
export function arnOf(action: string, resource: string): string {
  const service = action.split(":")[0];
  if (service === "iam") return `arn:aws:iam::123456789012:${resource}`;
  const account = resource === "image" ? "" : "123456789012";
  return `arn:aws:${service}:eu-west-1:${account}:${resource.includes("/") ? resource : `${resource}/x-1`}`;
}

/** Actions that create resources with tags, and so may give tags to them. */
const CREATIONS: readonly Request[] = [
  { action: "ec2:AuthorizeSecurityGroupEgress", existing: ["security-group"], created: ["security-group-rule"] },
  { action: "ec2:AuthorizeSecurityGroupIngress", existing: ["security-group"], created: ["security-group-rule"] },
  { action: "ec2:CreateInternetGateway", created: ["internet-gateway"] },
  { action: "ec2:CreateSecurityGroup", existing: ["vpc"], created: ["security-group"] },
  { action: "ec2:CreateSubnet", existing: ["vpc"], created: ["subnet"] },
  { action: "ec2:CreateVpc", created: ["vpc"] },
  { action: "ec2:ImportKeyPair", created: ["key-pair"] },
  {
    action: "ec2:RunInstances",
    existing: ["subnet", "security-group", "key-pair"],
    created: ["instance", "volume"],
    untagged: ["image", "network-interface"],
  },
];

export const TAGGING = CREATIONS.map(({ action }) => action);

export const CHANGES: readonly Request[] = [
  ...CREATIONS,
  ...CREATIONS.flatMap(({ action, created = [] }) =>
    created.map((resource) => ({
      action: "ec2:CreateTags",
      created: [resource],
      context: { "ec2:CreateAction": action.slice("ec2:".length) },
    })),
  ),
  { action: "ec2:CreateTags", untagged: ["route-table"], context: adopted("aws_default_route_table") },
  { action: "ec2:CreateTags", untagged: ["security-group"], context: adopted("aws_default_security_group") },
  // The disk of a machine is created with the tag of the cluster, and gets its name later.
  { action: "ec2:CreateTags", existing: ["volume"] },
  { action: "ec2:AttachInternetGateway", existing: ["internet-gateway", "vpc"] },
  // The route table of a new network gets its tags after its route.
  { action: "ec2:CreateRoute", untagged: ["route-table"] },
  { action: "ec2:DeleteInternetGateway", existing: ["internet-gateway"] },
  { action: "ec2:DeleteKeyPair", existing: ["key-pair"] },
  { action: "ec2:DeleteNetworkInterface", untagged: ["network-interface"] },
  { action: "ec2:DeleteRoute", existing: ["route-table"] },
  { action: "ec2:DeleteSecurityGroup", existing: ["security-group"] },
  // The groups of load balancers have the tags of Kubernetes alone.
  { action: "ec2:DeleteSecurityGroup", untagged: ["security-group"] },
  { action: "ec2:DeleteSubnet", existing: ["subnet"] },
  { action: "ec2:DeleteTags", existing: ["instance"] },
  { action: "ec2:DeleteVolume", existing: ["volume"] },
  { action: "ec2:DeleteVpc", existing: ["vpc"] },
  { action: "ec2:DetachInternetGateway", existing: ["internet-gateway", "vpc"] },
  { action: "ec2:DetachVolume", existing: ["volume", "instance"] },
  { action: "ec2:ModifyInstanceAttribute", existing: ["instance"] },
  { action: "ec2:ModifyInstanceMetadataOptions", existing: ["instance"] },
  { action: "ec2:ModifySecurityGroupRules", existing: ["security-group"], untagged: ["security-group-rule"] },
  { action: "ec2:ModifySubnetAttribute", existing: ["subnet"] },
  { action: "ec2:ModifyVpcAttribute", existing: ["vpc"] },
  { action: "ec2:ReplaceRoute", existing: ["route-table"] },
  // The rule that AWS adds to a new group has no tags.
  { action: "ec2:RevokeSecurityGroupEgress", existing: ["security-group"], untagged: ["security-group-rule"] },
  { action: "ec2:RevokeSecurityGroupIngress", existing: ["security-group"], untagged: ["security-group-rule"] },
  { action: "ec2:TerminateInstances", existing: ["instance"] },
  ...BALANCERS.map((balancer) => ({ action: "elasticloadbalancing:DeleteLoadBalancer", untagged: [balancer] })),
  ...["AddRoleToInstanceProfile", "CreateInstanceProfile", "DeleteInstanceProfile"].map((name) =>
    ofName(name, PROFILE),
  ),
  ...["RemoveRoleFromInstanceProfile", "TagInstanceProfile"].map((name) => ofName(name, PROFILE)),
  ...["CreateRole", "PutRolePolicy"].map((name) => ofName(name, ROLE, { "iam:PermissionsBoundary": BOUNDARY })),
  ...["DeleteRole", "DeleteRolePolicy", "DetachRolePolicy", "TagRole"].map((name) => ofName(name, ROLE)),
  ofName("PassRole", ROLE, { "iam:PassedToService": "ec2.amazonaws.com" }),
];

/** IAM knows the resources of a cluster by their names. */
function ofName(name: string, resource: string, context: Question["context"] = {}): Request {
  return { action: `iam:${name}`, untagged: [resource], context };
}

type Tags = Readonly<Record<string, string>>;
const tagged = (kind: "Request" | "Resource", tags: Tags) =>
  Object.fromEntries(Object.entries(tags).map(([key, value]) => [`aws:${kind}Tag/${key}`, value]));

/** The questions that a request is for AWS: `tags` are those of what exists, and `given` those of what is created. */
export function questionsOf(request: Request, tags: Tags, given: Tags): Question[] {
  const { action, existing = [], created = [], untagged = [], context = {} } = request;
  const of = (resources: readonly string[], more: Tags) =>
    resources.map((resource) => ({ action, resource: arnOf(action, resource), context: { ...context, ...more } }));
  return [...of(existing, tagged("Resource", tags)), ...of(created, tagged("Request", given)), ...of(untagged, {})];
}
