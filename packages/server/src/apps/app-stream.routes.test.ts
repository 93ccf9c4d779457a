import { Client, startWorld } from "@binnacle/world";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import type { Broadcast } from "../events/broadcast.ts";
import { Fault } from "../fault.ts";
import { type Edge, startEdge } from "../http/edge.fixture.ts";
import { type LogRequest, noOperatorConnected, type OperatorRequests } from "../hub/operator-requests.ts";
import { newId } from "../id.adapter.ts";
import { openShop, someApp, WEB, workload } from "./app.fixture.ts";
import { appStreamRoutes } from "./app-stream.routes.ts";

const away = async (): Promise<never> => {
  throw noOperatorConnected();
};
const withoutOperators: OperatorRequests = {
  isConnected: async () => false,
  logs: away,
  metrics: away,
  observe: away,
  run: away,
  exec: away,
  drainNodes: away,
  removeCloudObjects: away,
  describeDisks: away,
  localVolumes: away,
  upgrade: away,
  detach: away,
  resync: away,
};

const world = await startWorld();
const shop = await openShop(world);
afterAll(() => world.stop());

const get = (name: string, rest: string, query = "") => shop.viewer.api.get(shop.path(name, rest, query));

async function lease(cluster: string, until: Date): Promise<void> {
  await world.database.kysely
    .insertInto("cluster_sessions")
    .values({ cluster_id: cluster, hub_id: newId(), epoch: 1, token_version: 1, lease_until: until, started_at: until })
    .execute();
}

describe("logs", () => {
  test("[AP43] logs without a connected operator are a 503", async () => {
    const name = await shop.app();
    const refused = {
      status: 503,
      body: { detail: "No operator of the cluster is connected. Try again in a moment." },
    };
    expect(await get(name, "/logs")).toMatchObject(refused);
    expect(await get(name, "/components/web/logs/stream")).toMatchObject(refused);
  });

  test("[AP43] logs are a 503 if the lease of the operator's session has run out", async () => {
    const name = await shop.app();
    const now = world.clock.now();
    const other = await openShop(world);
    await lease(other.cluster, new Date(now.getTime() - 1));
    const there = await other.app();
    expect((await other.viewer.api.get(other.path(there, "/logs"))).status).toBe(503);
    expect((await get(name, "/logs")).status).toBe(503);
  });

  test("[AP44] logs of an unknown component are a 404, also without a connected operator", async () => {
    const name = await shop.app();
    expect((await get(name, "/logs", "&component=absent")).status).toBe(404);
    expect((await get(name, "/components/absent/logs/stream")).status).toBe(404);
  });

  test("[AP45] logs of an app with several workloads need the component", async () => {
    const name = await shop.app([WEB, workload("worker")]);
    expect(await get(name, "/logs")).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["query", "component"], type: "missing" }] },
    });
    expect((await get(name, "/logs", "&component=worker")).status).toBe(503);
  });

  test.each(["tail_lines=10001", "tail_lines=-1", "since_seconds=0", "follow=maybe", "previous=maybe"])(
    "[AP46] logs with %s are a 422",
    async (query) => {
      const name = await shop.app();
      expect((await get(name, "/logs", `&${query}`)).status).toBe(422);
      expect((await get(name, "/components/web/logs/stream", `&${query}`)).status).toBe(422);
    },
  );

  test("[AP11] logs are a 404 for a stranger, and project_id is required", async () => {
    const name = await shop.app();
    expect((await shop.stranger.api.get(shop.path(name, "/logs"))).status).toBe(404);
    expect((await shop.viewer.api.get(`/apps/${shop.namespace}/${name}/logs`)).status).toBe(422);
    expect((await world.anyone.get(shop.path(name, "/logs"))).status).toBe(401);
  });
});

describe("metrics", () => {
  test("[AP47] metrics of an app without an operator are a 503", async () => {
    const name = await shop.app();
    expect((await get(name, "/metrics")).status).toBe(503);
    expect((await get(name, "/metrics", "&range=30d")).status).toBe(503);
    expect((await get("absent", "/metrics")).status).toBe(404);
  });

  test.each(["59s", "31d", "1y", "h", "-1h"])("[AP48] metrics with a range of %s are a 422", async (range) => {
    const { status, body } = await get(await shop.app(), "/metrics", `&range=${range}`);
    expect([status, body.detail[0].loc]).toEqual([422, ["query", "range"]]);
  });
});

describe("with an operator that is connected", () => {
  const line = { component: "web", pod: "web-0", container: "web", time: "2026-01-31T09:30:00.000Z", line: "ready" };
  let edge: Edge | null = null;
  afterEach(() => edge?.app.close());

  /** The last reader. */
  let hasLeft = Promise.withResolvers<void>();
  let endOfAccess: () => void = () => undefined;
  const broadcast: Pick<Broadcast, "watch"> = {
    async watch(_reader, _mayStay, end) {
      endOfAccess = () => end("access");
      return () => undefined;
    },
  };
  const credential = { kind: "session", sessionId: newId(), userId: newId(), expiresAtMs: 0 };
  const caller = { id: credential.userId, credentialId: credential.sessionId, tokenExpiresAt: null };

  /** The routes as they are, behind no guard, with an operator that answers as told. */
  async function answering(
    operators: Partial<OperatorRequests>,
    query: object,
    watching: Pick<Broadcast, "watch"> = broadcast,
  ): Promise<Client> {
    hasLeft = Promise.withResolvers<void>();
    const cluster = (await openShop(world)).cluster;
    await lease(cluster, new Date(world.clock.now().getTime() + 60_000));
    const routes = appStreamRoutes({
      db: world.database.kysely,
      clock: world.clock.now,
      operators: { ...withoutOperators, ...operators },
      broadcast: watching as Broadcast,
    });
    const app = someApp({ cluster_id: cluster });
    edge = await startEdge((server) => {
      for (const { operation, handle } of routes) {
        server.get(`/${operation.id}`, (_request, reply) => {
          reply.raw.once("close", () => hasLeft.resolve());
          return handle({ app, query, reply, caller, credential, params: {} } as never);
        });
      }
    });
    return new Client(edge.url);
  }

  test("[AP49] log lines are sent as they are, and the stream ends after the last one", async () => {
    const asked: LogRequest[] = [];
    const logs: OperatorRequests["logs"] = async (request) => {
      asked.push(request);
      return (async function* () {
        yield line;
      })();
    };
    const client = await answering({ logs }, { tail_lines: 5, follow: false });
    const stream = await client.follow("/streamAppLogs");
    expect(stream.headers.get("content-type")).toMatch("text/event-stream");
    expect(await stream.rest()).toMatchObject([
      { event: "log", data: line },
      { event: "end", data: {} },
    ]);
    expect(asked).toMatchObject([
      { namespace: "shop", app: "storefront", component: "web", tailLines: 5, sinceSeconds: null, follow: false },
    ]);
  });

  test("[AP46] logs of the previous run are requested from the operator and not followed", async () => {
    const asked: LogRequest[] = [];
    const logs: OperatorRequests["logs"] = async (request) => {
      asked.push(request);
      return (async function* () {
        yield line;
      })();
    };
    const client = await answering({ logs }, { tail_lines: 5, follow: true, previous: true });
    await (await client.follow("/streamAppLogs")).rest();
    expect(asked).toMatchObject([{ previous: true, follow: false }]);
  });

  test("[AP49] a reader who leaves a log stream ends the request to the operator", async () => {
    const gone = Promise.withResolvers<void>();
    const logs: OperatorRequests["logs"] = async (_request, signal) => {
      signal.addEventListener("abort", () => gone.resolve());
      return (async function* () {
        yield line;
        await gone.promise;
      })();
    };
    const client = await answering({ logs }, { tail_lines: 5, follow: true });
    const stream = await client.follow("/streamAppLogs");
    expect(await stream.next()).toMatchObject({ event: "log" });
    stream.leave();
    await gone.promise;
  });

  test("[EV26] a reader who leaves while its access is looked up no longer counts as a log stream", async () => {
    const asked = Promise.withResolvers<void>();
    const unwatched = Promise.withResolvers<void>();
    const watch: Broadcast["watch"] = async () => {
      asked.resolve();
      await hasLeft.promise;
      return () => unwatched.resolve();
    };
    await answering({}, { tail_lines: 5, follow: true }, { watch });
    const leaving = new AbortController();
    const request = fetch(`${edge?.url}/streamAppLogs`, { signal: leaving.signal });
    await asked.promise;
    leaving.abort();
    await expect(request).rejects.toThrow();
    await unwatched.promise;
  });

  test("[AP61] a reader of a log stream whose access ends gets no more lines", async () => {
    const logs: OperatorRequests["logs"] = async (_request, signal) =>
      (async function* () {
        yield line;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      })();
    const client = await answering({ logs }, { tail_lines: 5, follow: true });
    const stream = await client.follow("/streamAppLogs");
    expect(await stream.next()).toMatchObject({ event: "log" });
    endOfAccess();
    expect(await stream.rest()).toMatchObject([{ event: "end" }]);
  });

  test("[AP60] a timeout or failure of the operator is the status of the answer", async () => {
    const logs: OperatorRequests["logs"] = async () => {
      throw new Fault("timed_out", "The cluster did not answer in time.");
    };
    const metrics: OperatorRequests["metrics"] = async () => {
      throw new Fault("bad_gateway", "The cluster answered with a failure.");
    };
    const client = await answering({ logs, metrics }, { tail_lines: 5, follow: true, range: "1h" });
    expect((await client.get("/streamAppLogs")).status).toBe(504);
    expect((await client.get("/getAppMetrics")).status).toBe(502);
  });

  test("[AP47] metrics of an app have the range that was requested", async () => {
    const metrics: OperatorRequests["metrics"] = async ({ rangeSeconds }) => ({
      step: `${rangeSeconds / 60}s`,
      series: [],
    });
    const client = await answering({ metrics }, { range: "1h" });
    expect((await client.get("/getAppMetrics")).body).toEqual({ range: "1h", step: "60s", series: [] });
  });
});
