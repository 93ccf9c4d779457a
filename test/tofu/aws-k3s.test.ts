import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Ajv } from "ajv";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { awsProvider } from "../../packages/server/src/cloud/aws/aws.adapter.ts";
import { CLUSTER_TAG, kubernetesTag, NEEDED_ACTIONS } from "../../packages/server/src/cloud/aws/aws.ts";
import { described } from "../../packages/server/src/cloud/aws/aws-inventory.adapter.ts";
import {
  at,
  itemsAt,
  type Query,
  queries,
  textAt,
  type Xml,
} from "../../packages/server/src/cloud/aws/aws-query.adapter.ts";
import type { CloudProvider } from "../../packages/server/src/cloud/provider.ts";
import { isAllowed, type Policy } from "../aws/policy.ts";
import { TAGGING } from "../aws/requests.ts";
import { freePort } from "../world/free-port.ts";
import { type Cloud, queryOptions, type RecordedCall, startCloud } from "./cloud.ts";
import { cloudInitSchema, requiredTools } from "./tools.ts";
import { REPORT_TOKENS, TOKENS, Workspace, wantedCluster } from "./workspace.ts";

const access = { region: "eu-west-1", access_key_id: "AKIAEXAMPLE", secret_access_key: "secret" };
const signal = AbortSignal.timeout(1_800_000);
let cloud: Cloud;
let aws: CloudProvider;
let query: Query;
const workspaces: Workspace[] = [];

beforeAll(async () => {
  cloud = await startCloud(mkdtempSync(join(tmpdir(), "moto-")));
  aws = awsProvider({ endpoint: cloud.endpoint, pollMs: 50 });
  query = queries(access, queryOptions(cloud.endpoint), signal);
});
afterEach(() => {
  for (const workspace of workspaces.splice(0)) workspace.remove();
});
afterAll(() => cloud.stop());

async function workspace(): Promise<Workspace> {
  const made = new Workspace(aws, access);
  workspaces.push(made);
  await made.init();
  return made;
}

const tags = (element: Xml): Record<string, string | null> =>
  Object.fromEntries(itemsAt(element, "tagSet").map((tag) => [textAt(tag, "key") ?? "", textAt(tag, "value")]));

/** The machines that run, as EC2 tells them. */
async function machinesOf(clusterId: string): Promise<readonly Xml[]> {
  const filter = { name: `tag:${CLUSTER_TAG}`, values: [clusterId] };
  const reservations = await described(query, "DescribeInstances", "reservationSet", filter);
  return reservations
    .flatMap((reservation) => itemsAt(reservation, "instancesSet"))
    .filter((one) => textAt(one, "instanceState", "name") === "running");
}

/** What is wrong with the user data of a machine, by the schema of cloud-init where that is there. */
function complaints(userData: string): readonly string[] {
  const config = parse(userData);
  const [, script] = config.write_files;
  expect(userData).toMatch(/^#cloud-config\n/);
  expect(gunzipSync(Buffer.from(script.content, "base64")).toString()).toBe(
    readFileSync(`${aws.module}/bootstrap.sh`, "utf8"),
  );
  expect(config.runcmd).toEqual([[script.path]]);
  const file = cloudInitSchema();
  if (file === null) {
    process.stderr.write(
      "\n*** User data is not compared with the schema of cloud-init: run test/tofu/build.sh checks.\n",
    );
    return [];
  }
  const { $schema: _draft, ...schema } = JSON.parse(readFileSync(file, "utf8"));
  const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
  validate(config);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

const namesOf = (machines: readonly Xml[]) =>
  Object.fromEntries(machines.map((one) => [tags(one)["binnacle:address"] ?? "", textAt(one, "instanceId")]));

test("[PN60] the OpenTofu module for AWS is formatted and valid, and its own tests pass", async () => {
  execFileSync(requiredTools().tofu, ["fmt", "-check", "-recursive", "-diff", aws.module], { stdio: "pipe" });
  const module = await workspace();
  expect(await module.tofu("validate", "-no-color")).toContain("The configuration is valid");
  expect(await module.tofu("test", "-no-color")).toMatch(/Success! [1-9]\d* passed, 0 failed/);
});

test("[PN70] [PN71] [PN72] [PN86] [PN164] a cluster is created, scaled and destroyed, and no second plan changes anything", async () => {
  const wanted = wantedCluster();
  const module = await workspace();
  await cloud.startRecording();
  const changes = await module.create(wanted);
  expect(changes.every(({ actions }) => actions.join() === "create")).toBe(true);
  const first = namesOf(await machinesOf(wanted.id));
  expect(Object.keys(first).sort()).toEqual(["aws_instance.agent/agent-1", "aws_instance.control_plane"]);

  // Another job has other tokens, and mints none for machines that exist.
  expect(await module.plan({ ...wanted, jobId: randomUUID(), nodeTokens: {} })).toEqual([]);

  const scaled = { ...wanted, jobId: randomUUID(), agentCount: 2, nodeTokens: { "agent-2": "later" } };
  expect(await module.create(scaled)).toEqual([
    { address: 'aws_instance.agent["agent-2"]', actions: ["create"], importing: false },
  ]);
  expect(namesOf(await machinesOf(wanted.id))).toMatchObject(first);
  expect(await module.plan(scaled)).toEqual([]);

  const reduced = { ...wanted, jobId: randomUUID(), agentCount: 0, nodeTokens: {} };
  const removed = await module.create(reduced);
  expect(removed.map(({ address, actions }) => [address, ...actions])).toEqual([
    ['aws_instance.agent["agent-1"]', "delete"],
    ['aws_instance.agent["agent-2"]', "delete"],
  ]);
  expect(namesOf(await machinesOf(wanted.id))).toEqual({
    "aws_instance.control_plane": first["aws_instance.control_plane"],
  });
  expect(await module.plan(reduced)).toEqual([]);

  const destroyed = await module.plan(reduced, "-destroy");
  expect(destroyed.every(({ actions }) => actions.join() === "delete")).toBe(true);
  await module.apply();
  expect(await aws.existing(access, wanted.id, signal)).toEqual([]);
  expect(await machinesOf(wanted.id)).toEqual([]);

  const used = await cloud.recordedActions();
  expect(used).toContain("ec2:RunInstances");
  expect([...used].filter((action) => !NEEDED_ACTIONS.includes(action))).toEqual([]);

  // What the documented policy takes for granted of the requests, because the local cloud does not ask it.
  const calls = await cloud.recordedCalls();
  const tagging = calls.filter(({ action }) => TAGGING.includes(action));
  expect(tagging.length).toBeGreaterThan(8);
  const has = (call: RecordedCall, value: string) => [...call.parameters.values()].includes(value);
  expect(tagging.filter((call) => !has(call, CLUSTER_TAG)).map(({ action }) => action)).toEqual([]);
  const later = calls.filter(({ action }) => action === "ec2:CreateTags");
  const adopted = ["aws_default_route_table.cluster", "aws_default_security_group.cluster"];
  const others = later.filter((call) => !adopted.some((address) => has(call, address)));
  // The disk of a machine has the tag of the cluster since it was created, and gets its name later.
  expect(others.filter(({ parameters }) => !parameters.get("ResourceId.1")?.startsWith("vol-"))).toEqual([]);
});

test("[PN61] [PN62] [PN63] [PN64] [PN65] [PN157] [PN158] [PN167] the created resources are tagged, closed and encrypted, and contain no secret", async () => {
  const wanted = wantedCluster();
  const module = await workspace();
  await module.create(wanted);
  const ours = { name: `tag:${CLUSTER_TAG}`, values: [wanted.id] };

  const state = JSON.parse(await module.tofu("show", "-json"));
  const resources: { address: string; type: string; values: Record<string, unknown> }[] =
    state.values.root_module.resources.filter((one: { mode: string }) => one.mode === "managed");
  expect(resources.length).toBeGreaterThan(14);
  for (const { address, type, values } of resources.filter(({ type }) => type !== "aws_iam_role_policy")) {
    const expected = address.replace(/\["(.*)"\]$/, "/$1");
    expect(values["tags"], type).toMatchObject({ "binnacle:address": expected });
    expect(values["tags_all"], type).toMatchObject({ "binnacle:cluster": wanted.id });
  }
  for (const [action, list] of [
    ["DescribeVpcs", "vpcSet"],
    ["DescribeSubnets", "subnetSet"],
    ["DescribeKeyPairs", "keySet"],
    ["DescribeVolumes", "volumeSet"],
  ] as const) {
    const found = await described(query, action, list, ours);
    expect(found.length, action).toBeGreaterThan(0);
    for (const one of found) expect(tags(one), action).toMatchObject({ "binnacle:job": wanted.jobId });
  }

  const volumes = await described(query, "DescribeVolumes", "volumeSet", ours);
  expect(volumes.map((one) => [textAt(one, "encrypted"), textAt(one, "volumeType"), textAt(one, "size")])).toEqual([
    ["true", "gp3", "50"],
    ["true", "gp3", "50"],
  ]);
  for (const machine of await machinesOf(wanted.id)) {
    expect(at(machine, "metadataOptions")).toMatchObject({ httpTokens: "required", httpPutResponseHopLimit: "1" });
    expect(tags(machine)).toMatchObject({ [kubernetesTag(wanted.id)]: "owned" });
    const isAgent = tags(machine)["binnacle:address"]?.includes("agent");
    expect(textAt(machine, "iamInstanceProfile", "arn") === null).toBe(isAgent);
    const id = textAt(machine, "instanceId") ?? "";
    const answer = await query("ec2", "DescribeInstanceAttribute", { InstanceId: id, Attribute: "userData" });
    const userData = Buffer.from(textAt(answer, "userData", "value") ?? "", "base64").toString();
    const node = isAgent ? "agent-1" : "control-plane";
    const tokens = [TOKENS, REPORT_TOKENS].flatMap((some) => Object.values(some));
    expect(tokens.filter((token) => userData.includes(token))).toEqual([TOKENS[node], REPORT_TOKENS[node]]);
    expect(userData.length).toBeLessThan(16_384);
    expect(complaints(userData)).toEqual([]);
    const files: { content: string; encoding: string }[] = parse(userData).write_files.slice(2);
    expect(files.every(({ encoding }) => encoding === "gz+b64")).toBe(true);
    const manifests: { kind: string; metadata: { name: string }; spec: { valuesContent: string } }[] = files
      .flatMap(({ content }) => gunzipSync(Buffer.from(content, "base64")).toString().split("---\n"))
      .map((text) => parse(text));
    expect(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(
      isAgent
        ? []
        : [
            "HelmChart aws-cloud-controller-manager",
            "HelmChart aws-ebs-csi-driver",
            "MutatingAdmissionPolicy ebs-csi-controller.binnacle.dev",
            "MutatingAdmissionPolicyBinding ebs-csi-controller.binnacle.dev",
          ],
    );
    const driver = manifests.find(({ metadata }) => metadata.name === "aws-ebs-csi-driver");
    if (!isAgent) {
      const { controller, storageClasses } = parse(driver?.spec.valuesContent ?? "");
      expect(controller.extraVolumeTags).toEqual({ [CLUSTER_TAG]: wanted.id });
      expect(storageClasses).toMatchObject([
        {
          name: "gp3",
          annotations: { "storageclass.kubernetes.io/is-default-class": "true" },
          parameters: { type: "gp3", encrypted: "true" },
        },
      ]);
    }
  }
  expect(JSON.stringify(state.values.outputs)).not.toMatch(/token-of|report-|PRIVATE KEY|secret/i);

  const [group] = (await described(query, "DescribeSecurityGroups", "securityGroupInfo", ours)).filter(
    (one) => textAt(one, "groupName") !== "default",
  );
  const open = itemsAt(group, "ipPermissions").flatMap((rule) =>
    itemsAt(rule, "ipRanges").map((range) => `${textAt(range, "cidrIp")} ${textAt(rule, "fromPort")}`),
  );
  expect(open.sort()).toEqual(["203.0.113.0/24 22", "203.0.113.0/24 6443"]);

  const RoleName = `binnacle-${wanted.id}-control-plane`;
  const answer = await query("iam", "GetRolePolicy", { RoleName, PolicyName: "kubernetes" });
  const policy: Policy = JSON.parse(decodeURIComponent(textAt(answer, "GetRolePolicyResult", "PolicyDocument") ?? ""));
  const actionsOf = ({ Action }: { readonly Action: string | readonly string[] }) => [Action].flat();
  // An account's first load balancer needs these too.
  expect(policy.Statement.flatMap(actionsOf)).toEqual(
    expect.arrayContaining([
      "ec2:DescribeAccountAttributes",
      "ec2:DescribeAddresses",
      "ec2:DescribeInternetGateways",
      "iam:CreateServiceLinkedRole",
    ]),
  );
  const bound = policy.Statement.find(({ Sid }) => Sid === "ChangeWhatHasTheTag") ?? { Action: [] };
  expect(actionsOf(bound)).toContain("ec2:DeleteVolume");
  for (const action of actionsOf(bound)) {
    const of = (id: string) => ({ [`aws:ResourceTag/${kubernetesTag(id)}`]: "owned" });
    const resource = "arn:aws:ec2:eu-west-1:123456789012:x/x-1";
    expect(isAllowed(policy, { action, resource, context: of(wanted.id) }), action).toBe(true);
    expect(isAllowed(policy, { action, resource, context: of(randomUUID()) }), action).toBe(false);
    expect(isAllowed(policy, { action, resource, context: {} }), action).toBe(false);
  }
  const unconditional = policy.Statement.filter(({ Condition }) => !Condition).flatMap(actionsOf);
  expect(unconditional.filter((action: string) => !/:Describe/.test(action))).toEqual(["ec2:CreateSecurityGroup"]);
  expect(policy.Statement.flatMap(actionsOf).filter((action: string) => action.includes("*"))).toEqual([]);
});

test("[PN74] [PN75] resources that no state knows are found by their tags, and imported without being replaced", async () => {
  const wanted = wantedCluster();
  const module = await workspace();
  const created = await module.create(wanted);
  const machines = namesOf(await machinesOf(wanted.id));
  const adopted = ["aws_default_route_table.cluster", "aws_default_security_group.cluster"];
  module.forget();

  const found = await aws.existing(access, wanted.id, signal);
  expect(found.map(({ address }) => address).sort()).toEqual(
    created
      .map(({ address }) => address)
      .filter((address) => !adopted.includes(address))
      .sort(),
  );
  module.import(found);
  const later = { ...wanted, jobId: randomUUID(), nodeTokens: {} };
  const changes = await module.plan(later);
  const replaced = changes.filter(
    ({ address, actions }) => !adopted.includes(address) && /create|delete/.test(actions.join()),
  );
  expect(replaced).toEqual([]);
  expect(changes.filter(({ importing }) => importing)).toHaveLength(found.length);
  await module.apply();
  expect(namesOf(await machinesOf(wanted.id))).toEqual(machines);
  expect(await module.plan(later)).toEqual([]);
});

test("[PN75] the rule that AWS adds to a new group is found, because the module's own could not be created beside it", async () => {
  const clusterId = randomUUID();
  const network = await query("ec2", "CreateVpc", {
    CidrBlock: "10.64.0.0/16",
    ...tagsFor("vpc", clusterId, "aws_vpc.cluster"),
  });
  const VpcId = textAt(network, "vpc", "vpcId") ?? "";
  const group = { GroupName: `binnacle-${clusterId}`, GroupDescription: "x", VpcId };
  await query("ec2", "CreateSecurityGroup", {
    ...group,
    ...tagsFor("security-group", clusterId, "aws_security_group.nodes"),
  });
  const found = await aws.existing(access, clusterId, signal);
  expect(found.map(({ address }) => address).sort()).toEqual([
    "aws_security_group.nodes",
    "aws_vpc.cluster",
    "aws_vpc_security_group_egress_rule.added_by_aws",
  ]);
  const rule = found.filter(({ type }) => type === "aws_vpc_security_group_egress_rule");
  await aws.remove(access, rule, signal);
  expect((await aws.existing(access, clusterId, signal)).map(({ type }) => type)).toEqual([
    "aws_security_group",
    "aws_vpc",
  ]);
});

const tagsFor = (type: string, clusterId: string, address?: string) => {
  const pairs = { [CLUSTER_TAG]: clusterId, ...(address ? { "binnacle:address": address } : {}) };
  const entries = Object.entries(pairs).flatMap(([key, value], index) => [
    [`TagSpecification.1.Tag.${index + 1}.Key`, key],
    [`TagSpecification.1.Tag.${index + 1}.Value`, value],
  ]);
  return { "TagSpecification.1.ResourceType": type, ...Object.fromEntries(entries) };
};

test("[PN76] [PN77] all resources are removed in the order of their dependencies, also those that Kubernetes made", async () => {
  const wanted = wantedCluster();
  const module = await workspace();
  await module.create(wanted);
  const made = await aws.existing(access, wanted.id, signal);
  const idOf = (address: string) => made.find((one) => one.address === address)?.id ?? "";

  const [zone] = await described(query, "DescribeSubnets", "subnetSet", {
    name: "vpc-id",
    values: [idOf("aws_vpc.cluster")],
  });
  const volume = await query("ec2", "CreateVolume", {
    AvailabilityZone: textAt(zone, "availabilityZone") ?? "",
    Size: "10",
    "TagSpecification.1.ResourceType": "volume",
    "TagSpecification.1.Tag.1.Key": kubernetesTag(wanted.id),
    "TagSpecification.1.Tag.1.Value": "owned",
    "TagSpecification.1.Tag.2.Key": "kubernetes.io/created-for/pvc/namespace",
    "TagSpecification.1.Tag.2.Value": "shop",
    "TagSpecification.1.Tag.3.Key": "kubernetes.io/created-for/pvc/name",
    "TagSpecification.1.Tag.3.Value": "data",
  });
  const VolumeId = textAt(volume, "volumeId") ?? "";
  await query("ec2", "AttachVolume", { VolumeId, InstanceId: idOf("aws_instance.control_plane"), Device: "/dev/sdf" });
  const group = await query("ec2", "CreateSecurityGroup", {
    GroupName: "k8s-elb-a1",
    GroupDescription: "Of a load balancer",
    VpcId: idOf("aws_vpc.cluster"),
  });
  const groupId = textAt(group, "groupId") ?? "";
  await query("ec2", "AuthorizeSecurityGroupIngress", {
    GroupId: idOf("aws_security_group.nodes"),
    "IpPermissions.1.IpProtocol": "-1",
    "IpPermissions.1.Groups.1.GroupId": groupId,
  });
  await query("elasticloadbalancing", "CreateLoadBalancer", {
    LoadBalancerName: `a${wanted.id.slice(0, 8)}`,
    "Subnets.member.1": textAt(zone, "subnetId") ?? "",
    "Listeners.member.1.Protocol": "TCP",
    "Listeners.member.1.LoadBalancerPort": "80",
    "Listeners.member.1.InstancePort": "30080",
  });

  const beside = (await aws.existing(access, wanted.id, signal)).filter(({ address }) => address === null);
  expect(beside).toContainEqual({ type: "volume", id: VolumeId, address: null, data: { claim: "shop/data" } });
  expect(beside).toContainEqual({ type: "security-group", id: groupId, address: null });
  expect(beside).toContainEqual({ type: "classic-load-balancer", id: `a${wanted.id.slice(0, 8)}`, address: null });

  // A destroy begins with these, while the machines still run.
  await aws.remove(access, beside, signal);
  const all = await aws.existing(access, wanted.id, signal);
  expect(all.filter(({ address }) => address === null)).toEqual([]);
  await aws.remove(access, all, signal);
  expect(await aws.existing(access, wanted.id, signal)).toEqual([]);
  expect(await machinesOf(wanted.id)).toEqual([]);
  // What is gone already is not an error.
  await aws.remove(access, all, signal);
});

test("[PN76] a removal that is aborted ends with the reason of its signal", async () => {
  const stopped = AbortSignal.abort(new Error("The worker stops."));
  const removal = aws.remove(access, [{ type: "aws_vpc", id: "vpc-1", address: null }], stopped);
  await expect(removal).rejects.toThrow("The worker stops.");
});

test("[PN81] [PN78] a plan against an endpoint that cannot be reached fails soon, and says why", async () => {
  const nowhere = awsProvider({ endpoint: `http://127.0.0.1:${await freePort()}` });
  const module = new Workspace(nowhere, access);
  workspaces.push(module);
  await module.init();
  const output: string = await module.plan(wantedCluster()).then(
    () => "",
    (error: { stderr: string }) => error.stderr,
  );
  expect(nowhere.failureOf([{ summary: "Error", detail: output, address: null }]).code).toBe("unreachable");
}, 120_000);
