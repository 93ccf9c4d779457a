import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ReleasePods } from "../helm/release-pods.ts";
import { hastyClock, logsOf, type PodsApi, reading, startPodsApi } from "./pods-api.fixture.ts";

let api: PodsApi;
let release: ReleasePods | null;
beforeEach(async () => {
  api = await startPodsApi();
  release = { release: "shop-store", makers: [{ kind: "Pod", name: "pg-0", selector: null }] };
});
afterEach(() => api.stop());

const at = (second: number, text: string) => `2026-01-31T09:30:0${second}.000000000Z ${text}`;
const soon = { timeout: 10_000, interval: 10 };
const labels = {};

/** The logs of the component `store`, which is a release. */
function following(follow: boolean, read = vi.fn(async () => release)) {
  const stream = reading(api, { component: "store", follow }, logsOf(api, hastyClock, read));
  return {
    ...stream,
    read,
    seen: (...lines: string[]) => vi.waitFor(() => expect(stream.lines()).toEqual(lines), soon),
  };
}

describe("a component that is a release", () => {
  test("[TE11] a component that is a release shows the log lines of its pods under its own name, and no others", async () => {
    api.run("pg-0", { labels });
    api.run("stranger", { labels });
    api.write("pg-0/web", at(1, "mine"));
    api.write("stranger/web", at(2, "theirs"));
    const stream = following(false);
    await stream.done;
    expect(stream.items).toEqual([
      { dropped: 0 },
      { component: "store", pod: "pg-0", container: "web", time: "2026-01-31T09:30:01.000Z", line: "mine" },
    ]);
    expect(api.asked.find(({ path }) => path.endsWith("/pods"))?.query["labelSelector"]).toBe("!binnacle.dev/app");
  });

  test("[TE11] a log stream waits for a component that Helm has not installed yet", async () => {
    release = null;
    const nothing = following(false);
    await nothing.done;
    expect(nothing.items).toEqual([{ dropped: 0 }]);
    const stream = following(true);
    await vi.waitFor(() => expect(api.watcherCount()).toBe(1), soon);
    release = { release: "shop-store", makers: [{ kind: "Pod", name: "pg-0", selector: null }] };
    api.write("pg-0/web", at(1, "first"));
    api.run("pg-0", { labels });
    await stream.seen("first");
  });

  test("[TE12] the log stream of a release follows pods that come and go, also of another revision", async () => {
    api.run("pg-0", { labels });
    api.write("pg-0/web", at(1, "a"));
    const stream = following(true);
    await stream.seen("a");
    await vi.waitFor(() => expect(api.watcherCount()).toBe(1), soon);
    release = { release: "shop-store", makers: [{ kind: "Pod", name: "pg-1", selector: null }] };
    api.run("stranger", { labels });
    api.write("stranger/web", at(2, "theirs"));
    api.write("pg-1/web", at(2, "b"));
    api.run("pg-1", { labels });
    await stream.seen("a", "b");
    api.write("pg-0/web", at(3, "c"));
    await stream.seen("a", "b", "c");
    api.remove("pg-0");
    api.write("pg-1/web", at(4, "d"));
    await stream.seen("a", "b", "c", "d");
    const reads = stream.read.mock.calls.length;
    api.begin("stranger", 2);
    api.begin("pg-1", 2);
    api.write("pg-1/web", at(5, "e"));
    await stream.seen("a", "b", "c", "d", "e");
    expect(stream.read.mock.calls).toHaveLength(reads);
  });

  test("[TE12] a log stream misses no pod because the release could not be read for a moment", async () => {
    const stream = following(true);
    await vi.waitFor(() => expect(api.watcherCount()).toBe(1), soon);
    release = { release: "shop-store", makers: [{ kind: "Pod", name: "pg-1", selector: null }] };
    stream.read.mockRejectedValueOnce(new Error("away"));
    api.write("pg-1/web", at(1, "late"));
    api.run("pg-1", { labels });
    await stream.seen("late");
  });
});
