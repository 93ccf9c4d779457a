import { describe, expect, test } from "vitest";
import { imageFor, newRecord, nextStep, recordIn, type UpgradeRecord, upgradePatch } from "./upgrade.ts";

const FROM = "registry.example.com:5000/mirror/binnacle/operator@sha256:aaa";
const DIGEST = `sha256:${"b".repeat(64)}`;
const TO = `registry.example.com:5000/mirror/binnacle/operator@${DIGEST}`;
const START = Date.parse("2026-01-31T09:00:00.000Z");
const request = {
  name: "upgrade_operator",
  upgrade_id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11",
  version: "0.2.0",
  digest: DIGEST,
  ready_within_seconds: 300,
} as const;
const record = newRecord(request, FROM, START);
const at = (seconds: number, more: Partial<Parameters<typeof nextStep>[1]> = {}) => ({
  nowMs: START + seconds * 1_000,
  podImage: FROM,
  deploymentImage: TO,
  isConnected: true,
  ...more,
});

describe("the image of an upgrade", () => {
  test.each([
    ["binnacle/operator:0.1.0", null, "binnacle/operator:0.2.0"],
    ["localhost:5000/operator", null, "localhost:5000/operator:0.2.0"],
    ["localhost:5000/operator:0.1.0", DIGEST, `localhost:5000/operator@${DIGEST}`],
    ["binnacle/operator:0.1.0@sha256:aaa", DIGEST, `binnacle/operator@${DIGEST}`],
    [FROM, DIGEST, TO],
  ])("[OU21] %s with the digest %s becomes %s: it stays in the registry of the install", (from, digest, to) => {
    expect(imageFor(from, { version: "0.2.0", digest })).toBe(to);
  });
});

describe("the next step of an upgrade", () => {
  test("[OU22] the former pod waits until the deadline, and then goes back to its image", () => {
    expect(nextStep(record, at(299))).toEqual({ do: "wait" });
    expect(nextStep(record, at(300))).toEqual({ do: "return" });
  });

  test("[OU23] the new pod ends the upgrade when the hub has admitted it, also after the deadline", () => {
    expect(nextStep(record, at(400, { podImage: TO }))).toMatchObject({ do: "finish", phase: "succeeded" });
  });

  test("[OU24] a new pod that leads and is never admitted goes back a minute after the deadline", () => {
    const lost = { podImage: TO, isConnected: false };
    expect(nextStep(record, at(359, lost))).toEqual({ do: "wait" });
    expect(nextStep(record, at(360, lost))).toEqual({ do: "return" });
  });

  test("[OU25] an image that somebody else has given the Deployment stays", () => {
    const step = nextStep(record, at(400, { deploymentImage: "another" }));
    expect(step).toMatchObject({ do: "finish", phase: "failed", reason: expect.stringContaining("Somebody else") });
  });

  test("[OU22] an upgrade that has ended is left alone", () => {
    expect(nextStep({ ...record, phase: "returned" }, at(400))).toEqual({ do: "wait" });
  });
});

describe("the record in the Deployment", () => {
  const deployment = (annotations: Record<string, string> = {}) => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "op", namespace: "binnacle-system", resourceVersion: "7", annotations },
    spec: {
      template: {
        spec: {
          containers: [
            { name: "proxy", image: "proxy:1" },
            { name: "operator", image: FROM },
          ],
        },
      },
    },
  });

  test("[OU26] the patch changes the operator's container alone, and only the Deployment that was read", () => {
    expect(upgradePatch(deployment(), record, TO)).toMatchObject({
      metadata: { resourceVersion: "7" },
      spec: {
        template: {
          spec: {
            containers: [
              { name: "proxy", image: "proxy:1" },
              { name: "operator", image: TO },
            ],
          },
        },
      },
    });
  });

  test("[OU26] a record is read as it was written, and one that somebody has damaged counts as none", () => {
    const { metadata } = upgradePatch(deployment(), record) as { metadata: { annotations: Record<string, string> } };
    expect(recordIn(deployment(metadata.annotations))).toEqual(record satisfies UpgradeRecord);
    expect(recordIn(deployment({ "binnacle.dev/operator-upgrade": "{" }))).toBeNull();
    expect(recordIn(deployment({ "binnacle.dev/operator-upgrade": "{}" }))).toBeNull();
    expect(recordIn(deployment())).toBeNull();
  });
});
