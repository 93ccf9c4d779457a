import { once } from "node:events";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { attemptsIn, waitMs } from "./attempts.ts";
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
let rights: typeof RIGHTS;
/** What each inspection waits for. */
let inspecting: Promise<unknown>;
/** Projects whose charts have a hook that never ends. */
let hanging: Set<string>;
/** What is noted on the Leases, by release. */
let notes: Map<string, string>;
let nowMs: number;

function revise(status: string): void {
  const version = (revisions.at(-1)?.version ?? 0) + 1;
  const digest = digestOf(wanted);
  revisions.push({ secret: `db.v${version}`, uid: `uid-${version}`, version, status, isOurs: true, digest });
}
const setLast = (status: string) => revisions.splice(-1, 1, { ...(revisions.at(-1) as Revision), status });

/** As Helm records what it does. */
const helm: Helm = {
  async upgrade({ namespace, name }, { inspect, isUpgrade }, signal) {
    if (hanging.has(namespace)) {
      calls.push(`${namespace}/${name}`);
      await once(signal, "abort");
      throw new HelmFailure("It was broken off.");
    }
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
      async under({ name }, signal, work) {
        await work(signal, {
          text: notes.get(name) ?? null,
          async write(text) {
            if (text === null) notes.delete(name);
            else notes.set(name, text);
          },
          isHeld: () => true,
        });
        return true;
      },
      async drop({ name }) {
        notes.delete(name);
      },
    },
    accounts: { ready: async () => undefined, doubt: () => undefined },
    rightsOf: () => rights,
    async inspect(manifest) {
      inspected.push(manifest);
      await inspecting;
      if (manifest === refused) throw new HelmFailure("Refused.", UNREADABLE);
    },
    left: async () => [],
    nowMs: () => nowMs,
    slots: 2,
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
  [isHookFailure, refused, rights] = [false, null, RIGHTS];
  [notes, nowMs, hanging, inspecting] = [new Map(), 0, new Set(), Promise.resolve()];
});

describe("a first installation that the cluster refuses", () => {
  test("[HE45] a first installation that the cluster refuses is uninstalled at once, and its failure stays reported", async () => {
    outcomes = ["failed"];
    expect(await attempt()).toMatchObject({ failure: { reason: "ForbiddenObject" }, isCurrent: false });
    expect(calls).toEqual(["install", "uninstall"]);
    expect(revisions.map(({ status }) => status)).toEqual(["uninstalled"]);
  });

  test("[HE45] a failed first installation is uninstalled by the next operator where the first one died before", async () => {
    revise("failed");
    expect(await attempt()).toMatchObject({ isCurrent: true });
    expect(calls).toEqual(["uninstall", "forget 1", "install"]);
  });

  test("[HE45] a first installation that fails again is uninstalled again", async () => {
    outcomes = ["failed", "failed"];
    await attempt();
    nowMs = 2_000;
    expect(await attempt()).toMatchObject({ hasRun: false });
    expect(calls).toEqual(["install", "uninstall", "forget 1", "install", "uninstall"]);
  });

  test("[HE45] a first installation keeps its objects where only a hook after them failed", async () => {
    isHookFailure = true;
    outcomes = ["failed"];
    await attempt();
    expect(calls).toEqual(["install"]);
    nowMs = 2_000;
    await attempt();
    expect(calls).toEqual(["install", "upgrade"]);
  });

  test.each([["deployed"], ["failed"], ["superseded"]])(
    "[HE45] an installation with an earlier revision that is %s is not a first one, and nothing is uninstalled",
    async (before) => {
      revise(before);
      revise("failed");
      outcomes = ["failed"];
      await attempt();
      expect(calls).toEqual(["upgrade"]);
    },
  );
});

describe("a release that is held", () => {
  test("[AP606] no step of Helm begins for a release that is held, not even one that waits for its turn, until it is ensured again", async () => {
    const its = reconciler();
    hanging = new Set(["loud", "louder"]);
    const loud = { ...wanted, namespace: "loud", name: "one" };
    await its.reconcile(loud);
    await its.reconcile({ ...wanted, namespace: "louder", name: "two" });
    await its.reconcile(wanted);
    its.hold(wanted);
    // Another goal breaks off the installation that never ends, which leaves its place to the one that waits.
    await its.reconcile({ ...loud, values: { color: "red" } });
    const released = vi.waitFor(async () => {
      const seen = await its.reconcile(wanted, { isReadOnly: true });
      expect(seen.doing).toBeNull();
      return seen;
    });
    expect(await released).toMatchObject({ isCurrent: false });
    expect(calls.filter((call) => !call.includes("/"))).toEqual([]);
    nowMs = 2_000;
    await its.reconcile(wanted);
    await vi.waitFor(async () =>
      expect(await its.reconcile(wanted, { isReadOnly: true })).toMatchObject({ isCurrent: true, doing: null }),
    );
    expect(calls).toContain("install");
    await its.stop();
  });
});

describe("a rollback", () => {
  beforeEach(() => {
    revise("deployed");
    setLast("deployed");
    revise("pending-upgrade");
    manifests.set(1, "kind: Deployment");
  });

  test("[HE44] a rollback is inspected as an upgrade is, before anything is applied", async () => {
    await attempt();
    expect(inspected[0]).toBe("kind: Deployment");
    expect(calls[0]).toBe("rollback 1");
  });

  test.each<[string, string | null, boolean]>([
    ["holds what is refused", "kind: Ingress", false],
    ["holds what is refused, with cluster-wide rights too,", "kind: Ingress", true],
    ["cannot be read", null, false],
  ])("[HE44] a rollback to a revision that %s becomes an upgrade instead", async (_, manifest, isClusterWide) => {
    rights = { ...RIGHTS, isClusterWide };
    manifests.set(1, manifest);
    refused = "kind: Ingress";
    revisions.splice(0, 1, { ...(revisions[0] as Revision), digest: "another" });
    expect(await attempt()).toMatchObject({ isCurrent: true });
    expect(calls).toEqual(["forget 2", "upgrade"]);
  });
});

describe("releases of several projects", () => {
  test("[HE7] [OP3979] hooks of one project that never end keep out neither another project nor what was never tried", async () => {
    hanging = new Set(["loud"]);
    const its = reconciler();
    for (const name of ["one", "two", "three"]) await its.reconcile({ ...wanted, namespace: "loud", name });
    await its.reconcile(wanted);
    await vi.waitFor(() => expect(calls).toContain("install"));
    expect(calls).toEqual(["loud/one", "install"]);
    await vi.waitFor(() => expect(its.load()).toEqual({ running: 1, waiting: 2 }));
    await its.stop();
    expect(its.load()).toEqual({ running: 0, waiting: 0 });
  });
});

test("[CL115] the step of Helm under way is finished for a detach, and no further one begins", async () => {
  const hold = Promise.withResolvers<undefined>();
  inspecting = hold.promise;
  const its = reconciler();
  for (const name of ["one", "two"]) await its.reconcile({ ...wanted, name });
  await vi.waitFor(() => expect(calls).toEqual(["install"]));
  let hasEnded = false;
  const finished = its.finish().then(() => {
    hasEnded = true;
  });
  await its.reconcile({ ...wanted, name: "three" });
  expect(hasEnded).toBe(false);
  hold.resolve(undefined);
  await finished;
  expect(calls).toEqual(["install"]);
  expect(revisions.map(({ status }) => status)).toEqual(["deployed"]);
  expect(its.load()).toEqual({ running: 0, waiting: 0 });
});

describe("[HE50] an attempt", () => {
  test("an attempt that failed is waited for by the next operator too, which says why", async () => {
    outcomes = ["failed"];
    await attempt();
    [nowMs, calls] = [1_000, []];
    expect(await attempt()).toMatchObject({ failure: { reason: "ForbiddenObject" } });
    expect(calls).toEqual([]);
    nowMs = 2_001;
    expect(await attempt()).toMatchObject({ isCurrent: true });
    expect(notes.size).toBe(0);
  });

  test("an attempt that has its operator killed counts", async () => {
    hanging = new Set([wanted.namespace]);
    await reconciler().reconcile(wanted);
    await vi.waitFor(() => expect(calls).toEqual(["shop/db"]));
    await attempt();
    expect(calls).toEqual(["shop/db"]);
  });

  test("an attempt that is broken off does not count", async () => {
    hanging = new Set([wanted.namespace]);
    const its = reconciler();
    await its.reconcile(wanted);
    await vi.waitFor(() => expect(calls).toEqual(["shop/db"]));
    await its.stop();
    expect(notes.size).toBe(0);
  });

  test.each([
    "",
    "no JSON",
    '{"goal":"another","count":1,"notBeforeMs":9e9,"endedMs":0,"failure":null}',
    '{"count":1}',
    "x".repeat(10_000),
  ])("an attempt is not held up by the note %j", async (note) => {
    notes.set(wanted.name, note);
    expect(await attempt()).toMatchObject({ isCurrent: true });
  });

  test("an attempt is held up by no note for longer than a failure would", () => {
    const goal = "goal";
    const note = JSON.stringify({ goal, count: 1e6, notBeforeMs: 1e15, endedMs: 1e15, failure: null });
    expect(waitMs(attemptsIn(note, goal, 1_000), goal, 1_000)).toBe(300_000);
  });
});
