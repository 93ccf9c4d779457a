import type { CheckedAccess, CheckedPermission, CheckedQuota } from "../provider.ts";
import {
  type AwsAccess,
  CLUSTER_TAG,
  NEEDED_ACTIONS,
  simulatedContext,
  simulatedPrincipal,
  simulations,
} from "./aws.ts";
import { described } from "./aws-inventory.adapter.ts";
import { AwsError, at, itemsAt, type Query, textAt } from "./aws-query.adapter.ts";

/** Reads a limit of the account, and null where it is unknown. */
export type QuotaReader = (service: string, code: string) => Promise<number | null>;

export async function checkAccess(query: Query, quota: QuotaReader, access: AwsAccess): Promise<CheckedAccess> {
  const answer = await query("sts", "GetCallerIdentity", {});
  const identity = textAt(answer, "GetCallerIdentityResult", "Arn") ?? "";
  const [permissions, quotas] = await Promise.all([permissionsOf(query, identity, access), quotasOf(query, quota)]);
  return { identity, permissions, quotas };
}

/** IAM knows all of it, if it may be asked. Otherwise EC2 says what it would allow, where it can be asked without an object. */
async function permissionsOf(query: Query, identity: string, access: AwsAccess): Promise<readonly CheckedPermission[]> {
  const known = (await simulated(query, identity, access)) ?? (await tried(query));
  return NEEDED_ACTIONS.map((action) => ({ action, allowed: known.get(action) ?? null }));
}

async function simulated(
  query: Query,
  identity: string,
  access: AwsAccess,
): Promise<ReadonlyMap<string, boolean> | null> {
  const principal = access.role_arn ?? simulatedPrincipal(identity);
  if (principal === null) return null;
  const answers = await Promise.all(
    simulations(principal, access.region).map(({ resource, actions }) =>
      unlessRefused(
        query("iam", "SimulatePrincipalPolicy", {
          PolicySourceArn: principal,
          MaxItems: "500",
          "ResourceArns.member.1": resource,
          ...Object.fromEntries(actions.map((action, index) => [`ActionNames.member.${index + 1}`, action])),
          ...contextOf(simulatedContext(access)),
        }),
      ),
    ),
  );
  const results = answers.flatMap((answer) => itemsAt(answer, "SimulatePrincipalPolicyResult", "EvaluationResults"));
  if (results.length === 0) return null;
  return new Map(
    results.map((one) => [textAt(one, "EvalActionName") ?? "", textAt(one, "EvalDecision") === "allowed"] as const),
  );
}

const contextOf = (entries: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(entries).flatMap(([key, value], index) => {
      const entry = `ContextEntries.member.${index + 1}`;
      return [
        [`${entry}.ContextKeyName`, key],
        [`${entry}.ContextKeyType`, "string"],
        [`${entry}.ContextKeyValues.member.1`, value],
      ];
    }),
  );

const taggedAs = (type: string) => ({
  "TagSpecification.1.ResourceType": type,
  "TagSpecification.1.Tag.1.Key": CLUSTER_TAG,
  "TagSpecification.1.Tag.1.Value": "check",
});

/** A dry run is refused in any case: with `DryRunOperation` where the call would be allowed. */
const DRY_RUNS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  CreateVpc: { CidrBlock: "10.64.0.0/16", ...taggedAs("vpc") },
  CreateInternetGateway: taggedAs("internet-gateway"),
  DescribeAvailabilityZones: {},
  DescribeImages: { "Owner.1": "self" },
  DescribeInstances: {},
  DescribeSecurityGroups: {},
  DescribeSubnets: {},
  DescribeVolumes: {},
  DescribeVpcs: {},
};

async function tried(query: Query): Promise<ReadonlyMap<string, boolean>> {
  const results = await Promise.all(
    Object.entries(DRY_RUNS).map(async ([action, parameters]) => {
      try {
        await query("ec2", action, { ...parameters, DryRun: "true" });
        return [[`ec2:${action}`, true] as const];
      } catch (error) {
        if (!(error instanceof AwsError)) throw error;
        if (error.code === "DryRunOperation") return [[`ec2:${action}`, true] as const];
        return error.failure.code === "permission_denied" ? [[`ec2:${action}`, false] as const] : [];
      }
    }),
  );
  return new Map(results.flat());
}

const STANDARD_VCPUS = "L-1216C47A";
const NETWORKS = "L-F678F1CE";
/** The families that share the quota of standard machines. */
const STANDARD = /^[acdhimrtz]\d/;

async function quotasOf(query: Query, quota: QuotaReader): Promise<readonly CheckedQuota[]> {
  const [vcpus, networks] = await Promise.all([
    checked(
      "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances",
      quota("ec2", STANDARD_VCPUS),
      async () => {
        const running = await described(query, "DescribeInstances", "reservationSet", {
          name: "instance-state-name",
          values: ["pending", "running", "stopping"],
        });
        return running
          .flatMap((reservation) => itemsAt(reservation, "instancesSet"))
          .filter((one) => STANDARD.test(textAt(one, "instanceType") ?? ""))
          .reduce((sum, one) => sum + vcpusOf(at(one, "cpuOptions")), 0);
      },
    ),
    checked("VPCs per Region", quota("vpc", NETWORKS), async () => {
      const networks = await described(query, "DescribeVpcs", "vpcSet", {
        name: "state",
        values: ["available", "pending"],
      });
      return networks.length;
    }),
  ]);
  return [...vcpus, ...networks];
}

const vcpusOf = (cpu: ReturnType<typeof at>) =>
  Number(textAt(cpu, "coreCount") ?? 0) * Number(textAt(cpu, "threadsPerCore") ?? 0);

/** A quota whose limit or use is unknown is left out. */
async function checked(
  name: string,
  limit: Promise<number | null>,
  used: () => Promise<number>,
): Promise<readonly CheckedQuota[]> {
  const [known, count] = await Promise.all([limit, unlessRefused(used())]);
  return known === null || count === null ? [] : [{ name, limit: known, used: count }];
}

async function unlessRefused<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AwsError) return null;
    throw error;
  }
}
