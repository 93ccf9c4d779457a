import { describe, expect, test } from "vitest";
import { contentOf } from "./manifest.ts";
import { isPodOf, isSelected, selectorIn } from "./release-pods.ts";

const MANIFEST = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: db-api}
spec:
  selector: {matchLabels: {app: pg, part: api}}
  template: {metadata: {labels: {app: pg, part: api}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db-pg, namespace: market}
spec:
  selector: {matchExpressions: [{key: part, operator: In, values: [store, replica]}]}
  template: {spec: {}}
---
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: ${"r".repeat(60)}}
spec: {selector: {matchLabels: {app: roll}}, template: {spec: {}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: db-backup}
spec: {jobTemplate: {spec: {template: {spec: {}}}}}
---
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: Pod, metadata: {name: db-test}}
  - {apiVersion: batch/v1, kind: Job, metadata: {name: db-init}, spec: {template: {spec: {}}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: db-agent, namespace: elsewhere}
spec: {selector: {matchLabels: {app: agent}}, template: {spec: {}}}
---
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {selector: {app: anything}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: db}
spec: {podSelector: {matchLabels: {app: anything}}}
`;
const HOOK = `
apiVersion: batch/v1
kind: Job
metadata: {name: db-migrate, annotations: {helm.sh/hook: pre-install}}
spec: {template: {spec: {}}}
`;

describe("a pod is of a release", () => {
  const { podMakers, objects } = contentOf(MANIFEST, [HOOK], "market");
  const pods = { release: "db", makers: podMakers };
  const api = { app: "pg", part: "api" };

  test.each<[string, string, Record<string, string>, boolean]>([
    ["of a Deployment", "db-api-678b5988b9-jnhp8", { ...api, "pod-template-hash": "678b5988b9" }, true],
    ["of a Deployment of another release with the same selector", "db2-api-678b5988b9-jnhp8", api, false],
    ["with half of the labels", "db-api-678b5988b9-jnhp8", { app: "pg" }, false],
    ["of a StatefulSet selected by an expression", "db-pg-0", { part: "replica" }, true],
    ["of no value of the expression", "db-pg-0", { part: "proxy" }, false],
    ["of a kind that is not known, with a cut name", `${"r".repeat(58)}x2x5p`, { app: "roll" }, true],
    ["of a job", "db-init-b46jt", { "job-name": "db-init" }, true],
    ["of another job", "db-init-2-b46jt", { "job-name": "db-init-2" }, false],
    ["of a hook", "db-migrate-b46jt", { "job-name": "db-migrate" }, true],
    ["of a run of a CronJob", "db-backup-29912669-knv62", { "job-name": "db-backup-29912669" }, true],
    ["of a job that is called alike", "db-backup-all-knv62", { "job-name": "db-backup-all" }, false],
    ["that it has itself", "db-test", {}, true],
    ["that another namespace's workload would have", "db-agent-knv62", { app: "agent" }, false],
    ["that a Service selects, which makes none", "db-x", { app: "anything" }, false],
    ["with the conventional label, made of something else", "main-1", { "app.kubernetes.io/instance": "db" }, true],
    ["with the conventional label of another release", "main-1", { "app.kubernetes.io/instance": "db2" }, false],
    ["with nothing in common", "web-0", {}, false],
  ])("[HE21] a pod is told by name and labels to belong to a release or not: %s: %s", (_, name, labels, isOne) => {
    expect(isPodOf(pods, { metadata: { name, namespace: "market", labels } })).toBe(isOne);
  });

  test("[HE21] the hooks of a release are not among its objects", () => {
    expect(objects.map(({ name }) => name)).not.toContain("db-migrate");
  });
});

describe("a selector", () => {
  const expression = (operator: string, values?: string[]) => ({
    matchExpressions: [{ key: "part", operator, values }],
  });
  test.each([
    ["In", expression("In", ["a", "b"]), { part: "b" }, true],
    ["In, without the label", expression("In", ["a"]), {}, false],
    ["NotIn", expression("NotIn", ["a"]), { part: "a" }, false],
    ["NotIn, without the label", expression("NotIn", ["a"]), {}, true],
    ["Exists", expression("Exists"), { part: "" }, true],
    ["Exists, without the label", expression("Exists"), {}, false],
    ["DoesNotExist", expression("DoesNotExist"), {}, true],
    ["DoesNotExist, with the label", expression("DoesNotExist"), { part: "a" }, false],
    ["all that it asks for", { matchLabels: { app: "x" }, ...expression("Exists") }, { app: "x" }, false],
    ["numbers that YAML has read", { matchLabels: { part: 1 } }, { part: "1" }, true],
    ["what nobody knows", expression("Gt", ["1"]), { part: "2" }, false],
  ])("[HE21] a label selector is evaluated as Kubernetes does for %s", (_, written, labels, isOne) => {
    const selector = selectorIn(written);
    expect(selector && isSelected(labels, selector)).toBe(isOne);
  });

  test.each([[{}], [null], [{ matchLabels: {} }]])("[HE21] an empty label selector selects nothing: %j", (written) => {
    expect(selectorIn(written)).toBeNull();
  });
});
