import { type ClusterInput, cloudOf, createCluster, PROVIDERS } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bodyProblems } from "../http/checked.fixture.ts";
import { hasProjects, named, provisioningOptions } from "./cluster.ts";

const ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";

const providerProblems = (body: ClusterInput) => bodyProblems(createCluster, body);

describe("what makes a creation a provisioning request", () => {
  test.each(PROVIDERS.filter((provider) => !cloudOf(provider)))(
    "[CL10] a cluster on %s is refused as coming soon",
    (provider) => {
      expect(providerProblems({ name: "x", provider, credential_id: ID })).toEqual([
        { loc: ["body", "provider"], msg: expect.stringContaining("coming soon"), type: "value_error" },
      ]);
    },
  );

  test("[CL9] provider and credential_id of a new cluster are given together or not at all", () => {
    expect(providerProblems({ name: "x", provider: "aws" })).toMatchObject([
      { loc: ["body", "credential_id"], type: "missing" },
    ]);
    expect(providerProblems({ name: "x", credential_id: ID })).toMatchObject([
      { loc: ["body", "provider"], type: "missing" },
    ]);
    expect(providerProblems({ name: "x" })).toEqual([]);
    expect(providerProblems({ name: "x", provider: "aws", credential_id: ID })).toEqual([]);
  });
});

describe("the options of a provisioned cluster", () => {
  test("[CL12] the options of a provisioned cluster default to the credential's region and to fixed values", () => {
    const body = { name: "x", provider: "aws" as const, credential_id: ID };
    expect(provisioningOptions(body, "eu-central-1")).toEqual({
      region: "eu-central-1",
      instance_type: "t3.large",
      agent_count: 0,
      disk_size_gb: 50,
    });
    const given = { region: "us-east-1", instance_type: "m7i.xlarge", agent_count: 3, disk_size_gb: 200 };
    expect(provisioningOptions({ ...body, ...given }, "eu-central-1")).toEqual(given);
  });

  test("[CL8] the options of a bring-your-own cluster are stored as given", () => {
    expect(provisioningOptions({ name: "x", agent_count: 2 }, null)).toEqual({
      region: null,
      instance_type: null,
      agent_count: 2,
      disk_size_gb: null,
    });
  });
});

describe("names in a refusal", () => {
  test("[CL15] the refusal to delete a cluster names its projects, at most 20 of them", () => {
    expect(hasProjects(["blog", "shop"]).detail).toBe("The cluster still has projects: blog, shop. Delete them first.");
    expect(named(Array.from({ length: 23 }, (_, index) => `p${index}`))).toMatch(/^p0, p1, .*, p19 and 3 more$/);
  });

  test("[CL15] the list of projects in a refusal stays short, however many there are", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 63 }), { minLength: 1, maxLength: 200 }), (names) => {
        expect(named(names).length).toBeLessThan(20 * 66 + 20);
      }),
    );
  });
});
