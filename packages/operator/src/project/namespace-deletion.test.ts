import { expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { deletionOf, LONG_PATIENCE_MS, PATIENCE_MS } from "./namespace-deletion.ts";

const BEGUN = "2026-01-31T09:30:00Z";

interface Given {
  readonly conditions?: readonly (readonly [type: string, message: string, status?: string])[];
  readonly finalizers?: readonly string[];
  readonly specFinalizers?: readonly string[];
}

const namespace = ({ conditions = [], finalizers = [], specFinalizers = ["kubernetes"] }: Given): KubeObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: "shop", deletionTimestamp: BEGUN, finalizers },
  spec: { finalizers: specFinalizers },
  status: { conditions: conditions.map(([type, message, status = "True"]) => ({ type, message, status })) },
});

const remaining = (finalizer: string) =>
  [
    "NamespaceFinalizersRemaining",
    `Some content in the namespace has finalizers remaining: ${finalizer} in 1 resource instances`,
  ] as const;
const PODS = ["NamespaceContentRemaining", "Some resources are remaining: pods. has 2 resource instances"] as const;
const DISCOVERY = [
  "NamespaceDeletionDiscoveryFailure",
  "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: a.example.com/v1",
] as const;

/** What is seen, whether it is stuck after the patience with others and after that with Kubernetes, and what is named. */
const TABLE = [
  ["nothing special", {}, [false, true], "is being deleted"],
  ["pods that stop", { conditions: [PODS] }, [false, true], "pods. has 2 resource instances"],
  ["volumes in use", { conditions: [remaining("kubernetes.io/pvc-protection")] }, [false, true], "pvc-protection"],
  ["our own cleanup", { conditions: [remaining("binnacle.dev/cleanup")] }, [false, true], "binnacle.dev/cleanup"],
  ["a finalizer on content", { conditions: [PODS, remaining("example.com/hold")] }, [true, true], "example.com/hold"],
  ["a finalizer on it", { finalizers: ["example.com/hold"] }, [true, true], "the finalizers example.com/hold."],
  ["a finalizer in it", { specFinalizers: ["example.com/hold"] }, [true, true], "the finalizers example.com/hold."],
  ["kinds that nobody answers for", { conditions: [DISCOVERY] }, [true, true], "a.example.com/v1"],
  ["what is over", { conditions: [[...DISCOVERY, "False"]] }, [false, true], "is being deleted"],
] as const satisfies readonly (readonly [string, Given, readonly [boolean, boolean], string])[];

test.each(TABLE)("[OD26] the deletion of a namespace names what blocks it: %s", (_, given, expected, named) => {
  const at = (afterMs: number) => deletionOf(namespace(given), Date.parse(BEGUN) + afterMs);
  expect(at(1_000).isBlocked).toBe(false);
  expect([at(PATIENCE_MS + 1).isBlocked, at(LONG_PATIENCE_MS + 1).isBlocked]).toEqual(expected);
  expect(at(0).message).toContain("The namespace shop is being deleted.");
  expect(at(0).message).toContain(named);
});
