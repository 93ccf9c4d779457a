import { describe, expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { isClaimOf, ownedObjects, type RootObject } from "./owned-objects.ts";

interface Made {
  readonly owner?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

const made = (kind: string, name: string, { owner, labels = {}, ...fields }: Made = {}): KubeObject => ({
  apiVersion: "v1",
  kind,
  metadata: {
    name,
    namespace: "shop",
    uid: `uid-${name}`,
    labels,
    ...(owner ? { ownerReferences: [{ apiVersion: "v1", kind: "Any", name: "any", uid: owner }] } : {}),
  },
  ...fields,
});
const root = (object: KubeObject, component = "web"): RootObject => ({ component, object, release: null });
const placed = (roots: readonly RootObject[], others: readonly KubeObject[]) =>
  ownedObjects(roots, others).map(({ object, parentUid, component, depth }) => [
    object.metadata.name,
    parentUid,
    component,
    depth,
  ]);

const set = made("StatefulSet", "db", {
  spec: { selector: { matchLabels: { app: "db" } }, volumeClaimTemplates: [{ metadata: { name: "data" } }] },
});
const claim = (name: string, labels: Readonly<Record<string, string>> = { app: "db" }) =>
  made("PersistentVolumeClaim", name, { labels });

describe("the objects of an app", () => {
  test("[TE14] the objects of an app are found from the top down by the uid in owner references", () => {
    const pod = made("Pod", "web-1-a", { owner: "uid-web-1" });
    const set1 = made("ReplicaSet", "web-1", { owner: "uid-web" });
    const foreign = [
      made("Pod", "web-1-b", { owner: "uid-of-an-earlier-web-1" }),
      made("Pod", "web-copy", { labels: { "binnacle.dev/app": "shop" } }),
      made("ReplicaSet", "other"),
    ];
    expect(placed([root(made("Deployment", "web"))], [pod, set1, ...foreign])).toEqual([
      ["web", null, "web", 0],
      ["web-1", "uid-web", "web", 1],
      ["web-1-a", "uid-web-1", "web", 2],
    ]);
  });

  test("[TE14] an object of an app that another one owns stands once, below its owner", () => {
    const job = made("Job", "nightly-1", { owner: "uid-nightly" });
    const roots = [root(job, "nightly"), root(made("CronJob", "nightly"), "nightly")];
    expect(placed(roots, [job])).toEqual([
      ["nightly", null, "nightly", 0],
      ["nightly-1", "uid-nightly", "nightly", 1],
    ]);
  });

  test("[TE14] the objects of an app include the claims of a StatefulSet, by name and by labels", () => {
    const others = [claim("data-db-0"), claim("data-db-1", { app: "other" }), claim("data-db-0-x"), claim("logs-db-0")];
    expect(placed([root(set, "db")], others)).toEqual([
      ["db", null, "db", 0],
      ["data-db-0", "uid-db", "db", 1],
    ]);
    const elsewhere = { ...claim("data-db-0"), metadata: { ...claim("data-db-0").metadata, namespace: "other" } };
    expect(isClaimOf(set, elsewhere)).toBe(false);
    const selector = { matchExpressions: [{ key: "part", operator: "In", values: ["store"] }] };
    const byExpression = { ...set, spec: { ...(set["spec"] as object), selector } };
    expect(isClaimOf(byExpression, claim("data-db-0", {}))).toBe(true);
  });

  test("[TE14] objects that own each other in a circle are found once, with one of them on top", () => {
    const [a, b] = [made("ConfigMap", "a", { owner: "uid-b" }), made("ConfigMap", "b", { owner: "uid-a" })];
    expect(placed([root(a), root(b)], [])).toEqual([
      ["a", null, "web", 0],
      ["b", "uid-a", "web", 1],
    ]);
  });
});
