import { beforeEach, describe, expect, test, vi } from "vitest";
import { HelmFailure, UNREADABLE } from "./failure.ts";
import type { Helm } from "./helm.adapter.ts";
import { NO_CONTENT } from "./manifest.ts";
import { createReleaseReconciler } from "./release.reconciler.ts";
import { digestOf, type Revision } from "./revision.ts";

const RIGHTS = { user: "charts", namespace: "shop", isClusterWide: false, remedy: "Ask." };
const wanted = {
  namespace: "shop",
  name: "db",
  owner: "addon",
  chart: { repo: "https://charts.example.com", name: "postgres" },
  values: { color: "blue" },
};

let revisions: Revision[];
let manifests: Map<number, string | null>;
let isHookFailure: boolean;
let calls: string[];
let inspected: string[];
/** What becomes of the next installations and upgrades, `deployed` where nothing is told. */
let outcomes: string[];
let refused: string | null;

function revise(status: string): void {
  const version = (revisions.at(-1)?.version ?? 0) + 1;
  const digest = digestOf(wanted);
  revisions.push({ secret: `db.v${version}`, uid: `uid-${version}`, version, status, isOurs: true, digest });
}
const setLast = (status: string) => revisions.splice(-1, 1, { ...(revisions.at(-1) as Revision), status });

/** As Helm records what it does. */
const helm: Helm = {
  async upgrade(_, { inspect, isUpgrade }) {
    calls.push(isUpgrade ? "upgrade" : "install");
    await inspect("kind: ConfigMap");
    const outcome = outcomes.shift() ?? "deployed";
    if (revisions.at(-1)?.status === "uninstalled") setLast("superseded");
    revise(outcome);
    if (outcome !== "deployed") throw new HelmFailure("The chart may not create rolebindings.", "ForbiddenObject");
  },
  async rollback(_, to) {
    calls.push(`rollback ${to}`);
    revise("deployed");
  },
  async uninstall() {
    calls.push("uninstall");
    setLast("uninstalled");
  },
};

function reconciler() {
  return createReleaseReconciler({
    helm,
    store: {
      revisions: async () => [...revisions],
      content: async () => ({ ...NO_CONTENT, isHookFailure }),
      manifest: async (_, { version }) => manifests.get(version) ?? null,
      async forget(_, gone) {
        calls.push(`forget ${gone.map(({ version }) => version).join()}`);
        revisions = revisions.filter((one) => !gone.includes(one));
      },
    },
    leases: {
      async under(_, signal, work) {
        await work(signal);
        return true;
      },
    },
    accounts: { ready: async () => undefined, doubt: () => undefined },
    rightsOf: () => RIGHTS,
    async inspect(manifest) {
      inspected.push(manifest);
      if (manifest === refused) throw new HelmFailure("Refused.", UNREADABLE);
    },
    left: async () => [],
    nowMs: () => 0,
    log: { info: () => undefined, warn: () => undefined },
    clusterId: "c1",
    onEnd: () => undefined,
  });
}

/** One attempt of an operator that begins now. */
async function attempt() {
  const its = reconciler();
  await its.reconcile(wanted);
  return vi.waitFor(async () => {
    const seen = await its.reconcile(wanted, { isReadOnly: true });
    expect(seen.doing).toBeNull();
    return seen;
  });
}

beforeEach(() => {
  [revisions, manifests, calls, inspected, outcomes] = [[], new Map(), [], [], []];
  [isHookFailure, refused] = [false, null];
});

describe("a first installation that the cluster refuses", () => {
  test("[HE45] is uninstalled at once, and the reason stays", async () => {
    outcomes = ["failed"];
    expect(await attempt()).toMatchObject({ failure: { reason: "ForbiddenObject" }, isCurrent: false });
    expect(calls).toEqual(["install", "uninstall"]);
    expect(revisions.map(({ status }) => status)).toEqual(["uninstalled"]);
  });

  test("[HE45] is uninstalled by the next operator, where the first one died before it could", async () => {
    revise("failed");
    expect(await attempt()).toMatchObject({ isCurrent: true });
    expect(calls).toEqual(["uninstall", "forget 1", "install"]);
  });

  test("[HE45] is uninstalled again when it fails again", async () => {
    outcomes = ["failed", "failed"];
    await attempt();
    expect(await attempt()).toMatchObject({ hasRun: false });
    expect(calls).toEqual(["install", "uninstall", "forget 1", "install", "uninstall"]);
  });

  test("[HE45] keeps its objects where only a hook after them failed", async () => {
    isHookFailure = true;
    outcomes = ["failed"];
    await attempt();
    expect(calls).toEqual(["install"]);
    await attempt();
    expect(calls).toEqual(["install", "upgrade"]);
  });

  test.each([["deployed"], ["failed"], ["superseded"]])(
    "[HE45] is none where there was a revision before it that is %s: nothing that runs is uninstalled",
    async (before) => {
      revise(before);
      revise("failed");
      outcomes = ["failed"];
      await attempt();
      expect(calls).toEqual(["upgrade"]);
    },
  );
});

describe("a rollback", () => {
  beforeEach(() => {
    revise("deployed");
    setLast("deployed");
    revise("pending-upgrade");
    manifests.set(1, "kind: Deployment");
  });

  test("[HE44] is inspected as an upgrade is, before anything is made of it", async () => {
    await attempt();
    expect(inspected[0]).toBe("kind: Deployment");
    expect(calls[0]).toBe("rollback 1");
  });

  test.each<[string, string | null]>([
    ["holds what is refused", "kind: Ingress"],
    ["cannot be read", null],
  ])("[HE44] to a revision that %s is not made, and the release is upgraded from there", async (_, manifest) => {
    manifests.set(1, manifest);
    refused = "kind: Ingress";
    revisions.splice(0, 1, { ...(revisions[0] as Revision), digest: "another" });
    expect(await attempt()).toMatchObject({ isCurrent: true });
    expect(calls).toEqual(["forget 2", "upgrade"]);
  });
});
