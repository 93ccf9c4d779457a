import type { AddressInfo, Server } from "node:net";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ExecClient } from "../../packages/server/src/apps/exec.fixture.ts";
import { balance, portOf } from "../world/balancer.ts";
import { Client } from "../world/client.ts";
import { freshDatabase } from "../world/database.ts";
import { dataFolder, type ServerProcess, startServer } from "../world/server-process.ts";
import { type SimulatedOperator, simulateOperator } from "../world/simulated-operator.ts";

const REDIS_URL = process.env["REDIS_URL"] ?? "";
if (!REDIS_URL)
  process.stderr.write(
    "\n!!! SKIPPED: several processes of each role are not tested with Redis, because REDIS_URL is not set. !!!\n\n",
  );
const BUSES = [
  ["PostgreSQL alone", {}],
  ["Redis", { REDIS_URL }],
] as const;

const SOON = { timeout: 100_000, interval: 100 };

describe.each(BUSES.filter(([name]) => name !== "Redis" || REDIS_URL))(
  "two API and two hub processes with %s",
  (_, bus) => {
    let data: Awaited<ReturnType<typeof dataFolder>>;
    let database: Awaited<ReturnType<typeof freshDatabase>>;
    let apis: ServerProcess[];
    let hubs: ServerProcess[];
    let clients: Client[];
    let balancer: Server;
    /** The ports of the hubs, among which the balancer chooses. */
    const ports: number[] = [];
    let authorization: string;
    let start: (roles: string) => Promise<ServerProcess>;
    const started: SimulatedOperator[] = [];
    /** An operator that reaches the hubs through the balancer. */
    const connected = async (token: string): Promise<SimulatedOperator> => {
      const url = `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`;
      const operator = simulateOperator({ url, token });
      started.push(operator);
      await vi.waitFor(() => expect(operator.link.isLive).toBe(true), SOON);
      return operator;
    };

    beforeAll(async () => {
      data = await dataFolder();
      database = await freshDatabase();
      start = (roles) =>
        startServer({
          BINNACLE_DATA_DIR: data.path,
          DATABASE_URL: database.url,
          ...bus,
          BINNACLE_ROLES: roles,
          BINNACLE_HUB_PORT: "0",
          BINNACLE_DATABASE_POOL_SIZE: "8",
        });
      apis = [await start("api,worker"), await start("api")];
      hubs = [await start("hub"), await start("hub")];
      const api = new Client(`${apis[0]?.url}/api/v1`);
      const { body } = await api.send("POST", "/login", { form: { username: "admin", password: "binnacle" } });
      authorization = `Bearer ${body.access_token}`;
      const headers = { authorization };
      clients = apis.map(({ url }) => new Client(`${url}/api/v1`, headers));
      ports.push(...hubs.map(portOf));
      balancer = await balance(ports);
    }, 120_000);
    afterAll(async () => {
      await Promise.all(started.map((operator) => operator.stop()));
      for (const server of [...(hubs ?? []), ...(apis ?? [])]) {
        server.signal("SIGTERM");
        await server.exited;
      }
      balancer?.close();
      await database?.drop();
      await data?.remove();
    });

    test("[EX11] a command in a container works through each API process, whichever hub holds its operator", async () => {
      const [first] = clients as [Client, Client];
      const { body: orgs } = await first.get("/orgs");
      const { body: cluster } = await first.post(`/orgs/${orgs.data[0].id}/clusters`, { name: "with commands" });
      await connected(cluster.connection_token);
      const { body: project } = await first.post("/projects", { name: "commands", cluster_id: cluster.id });
      const components = [{ name: "web", workload_spec: { image: "nginx:1.29" } }];
      await first.post("/apps", { name: "web", project_id: project.id, components });
      for (const { url: api } of apis) {
        const path = `/apps/${project.namespace}/web/components/web/exec?project_id=${project.id}&tty=false`;
        const exec = (command: string) =>
          new ExecClient(`${api}/api/v1${path}&command=${command}`, { headers: { authorization } });
        const [flood, echo] = [exec("yes"), exec("cat")];
        await flood.opened();
        flood.socket.pause();
        await echo.opened();
        const sent = "0123456789".repeat(20_000);
        for (let at = 0; at < sent.length; at += 20_000) echo.type(sent.slice(at, at + 20_000));
        echo.frame(0);
        await vi.waitFor(() => expect(echo.closed).toMatchObject({ code: 1000 }), SOON);
        expect([echo.stdout === sent, echo.exit]).toEqual([true, { exit_code: 0 }]);
        flood.leave();
      }
    });

    test("[RQ12] two API and two hub processes serve one fleet, whichever is asked, and also when a hub is killed", async () => {
      const [first, second] = clients as [Client, Client];
      const { body: orgs } = await first.get("/orgs");
      const clusters = await Promise.all(
        [1, 2].map(async (number) => {
          const { body } = await first.post(`/orgs/${orgs.data[0].id}/clusters`, { name: `cluster ${number}` });
          return { id: body.id as string, token: body.connection_token as string };
        }),
      );
      // One after the other, so that each hub is given one of them.
      const operators: SimulatedOperator[] = [];
      for (const { token } of clusters) operators.push(await connected(token));
      const ids = clusters.map(({ id }) => id);
      const { kysely: db } = database.database;
      const holders = async () =>
        (await db.selectFrom("cluster_sessions").select("hub_id").where("cluster_id", "in", ids).execute()).map(
          (row) => row.hub_id,
        );
      expect(new Set(await holders()).size).toBe(2);

      for (const client of clients) {
        for (const { id } of clusters) expect((await client.get(`/clusters/${id}/metrics`)).status).toBe(200);
      }

      const streams = await Promise.all(clients.map((client) => client.follow("/events/stream?resource_type=project")));
      for (const [index, { id }] of clusters.entries()) {
        const made = await (index === 0 ? second : first).post("/projects", { name: "shop", cluster_id: id });
        expect(made.status).toBe(201);
        for (const stream of streams) {
          await stream.until(({ data }) => data?.cluster_id === id && data.lifecycle === "ready");
        }
      }
      for (const stream of streams) stream.leave();

      hubs[0]?.signal("SIGKILL");
      await hubs[0]?.exited;
      await vi.waitFor(async () => {
        expect(operators.map(({ link }) => link.isLive)).toEqual([true, true]);
        for (const { id } of clusters) expect((await second.get(`/clusters/${id}/metrics`)).status).toBe(200);
      }, SOON);
      expect(new Set(await holders()).size).toBe(1);
      for (const { id } of clusters) {
        const { body } = await first.post("/projects", { name: "after", cluster_id: id });
        await vi.waitFor(
          async () => expect((await second.get(`/projects/${body.id}`)).body.lifecycle).toBe("ready"),
          SOON,
        );
      }
    }, 240_000);

    test("[OP1571] a process of each role that is asked to stop hands over its operators, its streams and its jobs, and ends", async () => {
      const [first, second] = clients as [Client, Client];
      const { body: orgs } = await first.get("/orgs");
      const { body: cluster } = await first.post(`/orgs/${orgs.data[0].id}/clusters`, { name: "handed over" });
      const operator = await connected(cluster.connection_token);
      hubs.push(await start("hub"));
      ports.push(...hubs.slice(-1).map(portOf));
      for (const hub of hubs.slice(0, -1)) hub.signal("SIGTERM");
      for (const hub of hubs.slice(0, -1)) await hub.exited;
      await vi.waitFor(async () => {
        expect(operator.link.isLive).toBe(true);
        expect((await second.get(`/clusters/${cluster.id}/metrics`)).status).toBe(200);
      }, SOON);

      // The one with the worker. Its jobs are run by another from then on.
      apis.push(await start("worker"));
      const stream = await fetch(`${apis[0]?.url}/api/v1/events/stream`, { headers: { authorization } });
      apis[0]?.signal("SIGTERM");
      expect(await stream.text()).toMatch(/^retry: \d+\n\n$/m);
      expect(await apis[0]?.exited).toBe(0);
      const { body: task } = await second.post("/tasks/task", { kind: "ping", payload: {} });
      await vi.waitFor(
        async () => expect((await second.get(`/tasks/task/${task.id}`)).body.status).toBe("succeeded"),
        SOON,
      );
    }, 240_000);
  },
);
