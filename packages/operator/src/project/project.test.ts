import { ANNOTATIONS } from "@binnacle/contract";
import { expect, test } from "vitest";
import { ORG_ID, PROJECT_ID } from "../desired/frames.fixture.ts";
import { ownLabels } from "../desired/ownership.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { decideProject, finalizersLeft, namespaceOf, type Project } from "./project.ts";

const CLUSTER = "01932c07-31f1-7a4e-8d8b-00000000000c";
const OTHER_ID = "01932c07-31f1-7a4e-8d8b-00000000000d";
const NOW = "2026-01-31T09:30:00Z";

const KEPT: Project = {
  kind: "project",
  key: "project/shop",
  resource_id: PROJECT_ID,
  generation: 1,
  hash: "0".repeat(64),
  spec: { org_id: ORG_ID, name: "shop", namespace: "shop" },
  secret: {},
  isDeleting: false,
};
const LEAVING: Project = { ...KEPT, isDeleting: true };

const changed = (object: KubeObject, metadata: Partial<KubeObject["metadata"]>): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, ...metadata },
});
const FACTS = { clusterId: CLUSTER, podSecurityLimit: "privileged" } as const;
const OWN = namespaceOf(KEPT, FACTS);
const UNLABELLED = changed(OWN, { labels: ownLabels(CLUSTER) });
const FOREIGN = changed(OWN, { labels: {} });
const OF_OTHER_CLUSTER = changed(OWN, { labels: ownLabels(OTHER_ID) });
const OF_EARLIER = changed(OWN, { annotations: { [ANNOTATIONS.resourceId]: OTHER_ID } });
const terminating = (object: KubeObject) => changed(object, { deletionTimestamp: NOW });

const NOTHING: readonly string[] = [];

/** What is there and what comes of it: the next step, and what is reported. */
const TABLE = [
  ["[OD20]", "no namespace", KEPT, null, NOTHING, "create_namespace", null],
  ["[OD20]", "its namespace", KEPT, OWN, NOTHING, "wait", "ready"],
  ["[OD20]", "its namespace without some label", KEPT, UNLABELLED, NOTHING, "label_namespace", "ready"],
  ["[OD21]", "somebody else's", KEPT, FOREIGN, NOTHING, "wait", "namespace_conflict"],
  ["[OD21]", "another cluster's", KEPT, OF_OTHER_CLUSTER, NOTHING, "wait", "namespace_conflict"],
  ["[OD21]", "somebody else's that goes", KEPT, terminating(FOREIGN), NOTHING, "wait", "namespace_conflict"],
  ["[OD28]", "that of an earlier project", KEPT, OF_EARLIER, NOTHING, "wait", "namespace_conflict"],
  ["[OD28]", "that of an earlier project that goes", KEPT, terminating(OF_EARLIER), NOTHING, "wait", "apply_failed"],
  ["[OD22]", "its own that goes", KEPT, terminating(OWN), NOTHING, "wait", "apply_failed"],

  ["[OD24]", "its namespace with apps in it", LEAVING, OWN, ["addon db", "app web"], "wait", "cleaning"],
  ["[OD24]", "its namespace", LEAVING, OWN, NOTHING, "delete_namespace", "cleaning"],
  ["[OD24]", "its own that goes", LEAVING, terminating(OWN), NOTHING, "wait", "cleaning"],
  ["[OD25]", "no namespace", LEAVING, null, NOTHING, "let_go", null],
  ["[OD27]", "somebody else's", LEAVING, FOREIGN, NOTHING, "let_go", null],
  ["[OD27]", "another cluster's", LEAVING, OF_OTHER_CLUSTER, NOTHING, "let_go", null],
  ["[OD27]", "that of an earlier project", LEAVING, OF_EARLIER, NOTHING, "let_go", null],
] as const;

test.each(TABLE)("%s a project is reconciled with %s", (_, __, project, namespace, left, step, state) => {
  const decision = decideProject({ project, namespace, left, ...FACTS, nowMs: Date.parse(NOW) });
  expect([decision.step, decision.report?.state ?? null]).toEqual([step, state]);
});

test("[OD24] the report of a deletion names what the deletion waits for", () => {
  const seen = { project: LEAVING, namespace: OWN, left: ["addon db", "app web"], ...FACTS, nowMs: 0 };
  expect(decideProject(seen).report?.message).toBe("Still on the cluster: addon db, app web.");
});

test("[OD26] the report of a deletion names the finalizers of others on the project", () => {
  expect(finalizersLeft(LEAVING, ["backup.example.com/hold"])).toEqual({
    state: "cleanup_blocked",
    message: "The Project shop is held on the cluster by the finalizers backup.example.com/hold.",
  });
});
