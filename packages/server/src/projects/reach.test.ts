import { expect, test } from "vitest";
import { EVERYTHING, NOTHING, onCluster, type Reach } from "./reach.ts";

const CLUSTER = { id: "cluster-1", orgId: "org-1" };
const own = { id: "project-1", clusterId: "cluster-1" };
const other = { id: "project-2", clusterId: "cluster-2" };
const WHOLE: Reach = { ...NOTHING, clusters: ["cluster-1"] };

test.each<[string, Reach, Reach]>([
  ["everything", EVERYTHING, WHOLE],
  ["its organization", { ...NOTHING, orgs: ["org-1", "org-2"] }, WHOLE],
  ["it and others", { ...NOTHING, clusters: ["cluster-1", "cluster-2"] }, WHOLE],
  ["another organization", { ...NOTHING, orgs: ["org-2"], clusters: ["cluster-2"] }, NOTHING],
  ["some projects", { ...NOTHING, projects: [own, other] }, { ...NOTHING, projects: [own] }],
  ["nothing", NOTHING, NOTHING],
])("[PR8] on one cluster, whoever sees %s sees what lies there", (_, reach, narrowed) => {
  expect(onCluster(reach, CLUSTER)).toEqual(narrowed);
});
