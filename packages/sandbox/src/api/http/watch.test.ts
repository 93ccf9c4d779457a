import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ask, pathIn } from "./ask.fixture.ts";
import { bareCluster } from "./bare-cluster.fixture.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const CONFIGS = pathIn("shop", "configmaps");

function world(historyLength = 100) {
  const cluster = bareCluster({ historyLength });
  const write = (name: string, labels: Record<string, string> = {}) => {
    const old = cluster.store.get("configmaps", name, "shop");
    const draft = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "shop", labels } };
    return old ? cluster.store.update("configmaps", draft) : cluster.store.create("configmaps", draft);
  };
  function watch(query: string, accept?: string) {
    const lines: { type: string; object: { kind?: string; metadata: { name?: string }; code?: number } }[] = [];
    const seen = { isOver: false, lines, stop: (): void => undefined };
    const { response } = ask(cluster.handler, { path: `${CONFIGS}?watch=true&${query}`, accept });
    const stop = response.stream?.({
      write: (text) =>
        lines.push(
          ...text
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line)),
        ),
      end: () => {
        seen.isOver = true;
      },
    });
    seen.stop = () => stop?.();
    return seen;
  }
  const eventsIn = (seen: { lines: { type: string; object: { metadata: { name?: string } } }[] }) =>
    seen.lines.map(({ type, object }) => `${type} ${object.metadata.name}`);
  return { ...cluster, write, watch, eventsIn };
}

const settle = () => vi.advanceTimersByTimeAsync(0);

test("[SA11] a watch continues from a version without a gap", async () => {
  const { write, watch, eventsIn, store } = world();
  write("a");
  const { version } = { version: write("b").metadata.resourceVersion };
  write("c");
  store.delete("configmaps", "a", "shop");
  const seen = watch(`resourceVersion=${version}`);
  expect(eventsIn(seen)).toEqual(["ADDED c", "DELETED a"]);
  write("b", { x: "y" });
  await settle();
  expect(eventsIn(seen)).toEqual(["ADDED c", "DELETED a", "MODIFIED b"]);
  seen.stop();
  write("d");
  await settle();
  expect(seen.lines).toHaveLength(3);
});

test("[SA11] a watch from a version that is forgotten gets a 410 and ends", () => {
  const { write, watch } = world(2);
  for (let number = 0; number < 9; number++) write("a", { n: `${number}` });
  const seen = watch("resourceVersion=2");
  expect(seen.lines).toMatchObject([{ type: "ERROR", object: { code: 410, reason: "Expired" } }]);
  expect(seen.isOver).toBe(true);
});

test("[SA12] a watch without a version begins with the existing objects, and says when that is all", () => {
  const { write, watch, eventsIn } = world();
  write("a");
  write("b");
  expect(eventsIn(watch(""))).toEqual(["ADDED a", "ADDED b"]);
  const seen = watch("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
  expect(seen.lines.at(-1)).toMatchObject({
    type: "BOOKMARK",
    object: { metadata: { annotations: { "k8s.io/initial-events-end": "true" } } },
  });
});

test("[SA54] a watch of metadata tells of objects and of its bookmarks without their content", () => {
  const { write, watch } = world();
  write("a");
  const accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
  const { lines } = watch("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", accept);
  expect(lines.map(({ type, object }) => `${type} ${object.kind} ${object.metadata.name}`)).toEqual([
    "ADDED PartialObjectMetadata a",
    "BOOKMARK PartialObjectMetadata undefined",
  ]);
});

test("[SA12] an object that leaves a selection is DELETED in the watch, and one that enters it is ADDED", async () => {
  const { write, watch, eventsIn, core } = world();
  const seen = watch(`labelSelector=app=web&resourceVersion=${core.table.version}`);
  write("a", { app: "db" });
  write("a", { app: "web" });
  write("a", { app: "web", more: "x" });
  write("a", { app: "db" });
  await settle();
  expect(eventsIn(seen)).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
});

test("[SA12] a watch sends bookmarks when asked to, and ends after its timeout", async () => {
  const { watch, core } = world();
  const [with_, without] = [
    watch(`resourceVersion=${core.table.version}&allowWatchBookmarks=true&timeoutSeconds=120`),
    watch(`resourceVersion=${core.table.version}`),
  ];
  await vi.advanceTimersByTimeAsync(119_000);
  expect(with_.lines.map(({ type }) => type)).toEqual(["BOOKMARK", "BOOKMARK"]);
  expect(with_.lines[0]).toMatchObject({
    object: { kind: "ConfigMap", metadata: { resourceVersion: `${core.table.version}` } },
  });
  expect([with_.isOver, without.lines.length]).toEqual([false, 0]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect([with_.isOver, without.isOver]).toEqual([true, false]);
  without.stop();
});
