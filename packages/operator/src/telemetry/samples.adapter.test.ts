import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Answerer, type FakeApi, startFakeApi } from "../kube/fake-api.fixture.ts";
import type { SampleEvent } from "../link/ports.ts";
import type { ReleaseComponent } from "./app-components.ts";
import { startSamples } from "./samples.adapter.ts";

const CLUSTER = "0190e5e0-0000-7000-8000-0000000000c1";
const METRICS = "/apis/metrics.k8s.io/v1beta1";

let api: FakeApi;
let answer: Answerer;
let samples: SampleEvent[];
let timers: { readonly ms: number; readonly callback: () => void }[];
let nowMs: number;
beforeEach(async () => {
  api = await startFakeApi((asked, response) => answer(asked, response));
  samples = [];
  timers = [];
  nowMs = 0;
});
afterEach(() => api.stop());

const clock = {
  now: () => nowMs,
  after(ms: number, callback: () => void) {
    timers.push({ ms, callback });
    return () => undefined;
  },
};

function start(
  hasPrometheus: () => Promise<object | null> = async () => null,
  releases: readonly ReleaseComponent[] = [],
) {
  const log = { warn: vi.fn() };
  const running = startSamples({
    kube: api.client,
    clusterId: CLUSTER,
    capacity: () => ({ cpu_cores: 4, memory_bytes: 8e9, pods: 110 }),
    releases: () => releases,
    prometheus: { find: hasPrometheus as never },
    events: { samples: (events) => void samples.push(events) },
    clock,
    nowMs: () => nowMs,
    random: () => 0.5,
    log,
  });
  return { ...running, log };
}

/** The next look is due, and done. */
async function next(): Promise<number> {
  const due = timers.shift();
  if (!due) throw new Error("nothing is due");
  nowMs += due.ms;
  due.callback();
  await vi.waitFor(() => expect(timers).toHaveLength(1));
  return due.ms;
}

const measuring: Answerer = ({ path }) => {
  if (path === `${METRICS}/nodes`)
    return [200, { metadata: {}, items: [{ metadata: {}, usage: { cpu: "1", memory: "1Ki" } }] }];
  return path === `${METRICS}/pods` ? [200, { metadata: {}, items: [] }] : [404, {}];
};

test("[TE30] a sample is taken every minute, from a random moment on", async () => {
  answer = measuring;
  const running = start();
  expect([await next(), await next(), await next()]).toEqual([5_000, 60_000, 60_000]);
  await running.stop();
  expect(samples.map(({ at }) => at)).toEqual([5, 65, 125].map((s) => new Date(s * 1_000).toISOString()));
  expect(samples[0]).toMatchObject({ used: { cpu_cores: 1, memory_bytes: 1_024 }, components: [] });
  expect(api.asked.find(({ path }) => path === `${METRICS}/pods`)?.query["labelSelector"]).toBe(
    `app.kubernetes.io/managed-by=binnacle,binnacle.dev/cluster=${CLUSTER},binnacle.dev/app,binnacle.dev/component`,
  );
});

test("[TE34] pods of releases are read in their namespaces, and not at all where there are none", async () => {
  const otherPods = `${METRICS}/namespaces/shop-ns/pods`;
  const pod = {
    metadata: { name: "pg-0", namespace: "shop-ns" },
    containers: [{ usage: { cpu: "1", memory: "1Ki" } }],
  };
  answer = (asked, response) =>
    asked.path === otherPods ? [200, { metadata: {}, items: [pod] }] : measuring(asked, response);
  const makers = [{ kind: "Pod", name: "pg-0", selector: null }];
  const place = { namespace: "shop-ns", app: "shop", component: "db" };
  const running = start(undefined, [{ ...place, pods: { release: "shop-db", makers } }]);
  await next();
  await running.stop();
  expect(samples).toMatchObject([{ components: [{ ...place, cpu_cores: 1, memory_bytes: 1_024 }] }]);
  expect(api.asked.filter(({ path }) => path.endsWith("/pods")).map(({ query }) => query["labelSelector"])).toEqual([
    expect.stringContaining("binnacle.dev/app,"),
    "!binnacle.dev/app",
  ]);
});

test("[TE30] nothing is sampled while a Prometheus answers, and samples are taken when it fails", async () => {
  answer = measuring;
  const prometheus = vi.fn(async (): Promise<object | null> => ({}));
  const running = start(prometheus);
  await next();
  expect(samples).toEqual([]);
  prometheus.mockRejectedValue(new Error("away"));
  await next();
  expect(samples).toHaveLength(1);
  await running.stop();
});

test.each([404, 403, 503])(
  "[TE32] a cluster whose metrics API answers %d reports its capacity alone",
  async (status) => {
    answer = () => [status, { kind: "Status", code: status }];
    const running = start();
    await next();
    await running.stop();
    expect(samples).toMatchObject([{ used: null, capacity: { cpu_cores: 4, memory_bytes: 8e9 }, components: [] }]);
  },
);

test("[TE33] a cluster that does not answer is logged once and retried", async () => {
  answer = (_, response) => {
    response.destroy();
    return null;
  };
  const running = start();
  await next();
  await next();
  expect(running.log.warn).toHaveBeenCalledOnce();
  expect(samples).toEqual([]);
  answer = measuring;
  await next();
  expect(samples).toHaveLength(1);
  await running.stop();
});
