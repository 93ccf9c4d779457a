import { startWorld } from "@binnacle/world";
import { Pipe } from "@binnacle/world/pipe";
import { expect, test, vi } from "vitest";
import { simulateOperator } from "../../../test/world/simulated-operator.ts";
import { errorFrom } from "./client.fixture.ts";
import { createClient, type LogLine } from "./index.ts";

const lineAt = (second: number, line: string): LogLine => ({
  component: "web",
  pod: "web-0",
  container: "web",
  time: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString(),
  line,
});

test("[CN24] logs of an app are followed through the server over a cut connection, and read to their end", async () => {
  const world = await startWorld();
  const pipe = await Pipe.to(Number(new URL(world.url).port));
  const client = createClient({ url: `http://127.0.0.1:${pipe.port}` });
  await client.login({ username: "admin", password: world.admin.password });
  const cluster = await client.call("createCluster", { org_id: world.demoOrgId, body: { name: "edge" } });
  const project = await client.call("createProject", { body: { name: "shop", cluster_id: cluster.id } });
  const components = [{ name: "web", workload_spec: { image: "nginx:1.29" } }];
  await client.call("createApp", { body: { name: "storefront", project_id: project.id, components } });
  const app = { namespace: "shop", name: "storefront", project_id: project.id };
  const refused = await errorFrom(client.stream("streamAppLogs", app).next());
  expect(refused).toMatchObject({ name: "ServerFault", status: 503, attempts: 1 });

  const output = [lineAt(1, "a"), lineAt(1, "b")];
  const operator = simulateOperator({
    url: world.url,
    token: cluster.connection_token ?? "",
    ports: {
      answerer: {
        metrics: async () => null,
        observe: () => Promise.reject(new Error("nothing is observed")),
        run: async () => ({ run: null }),
        infrastructure: async () => ({ left: [] }),
        exec: () => Promise.reject(new Error("no commands are run")),
        async *logs({ follow }, signal) {
          yield { dropped: 0 };
          yield* output;
          if (follow) await new Promise((resolve) => signal.addEventListener("abort", resolve));
        },
      },
    },
  });
  try {
    await vi.waitFor(() => expect(operator.link.isLive).toBe(true), { timeout: 30_000 });
    const logs = client.stream("streamAppLogs", app);
    const next = async () => (await logs.next()).value;
    const item = (data: LogLine | undefined) => ({ type: "event", event: "log", data });
    expect([await next(), await next(), await next()]).toEqual([{ type: "open" }, item(output[0]), item(output[1])]);
    output.push(lineAt(1, "c"));
    pipe.cut();
    expect([await next(), await next()]).toEqual([
      { type: "gap", reason: "reconnected", count: null },
      item(output[2]),
    ]);
    await logs.return();

    const lines: string[] = [];
    for await (const it of client.stream("streamAppLogs", { ...app, follow: false })) {
      if (it.type === "event") lines.push(it.data.line);
    }
    expect(lines).toEqual(["a", "b", "c"]);
  } finally {
    await operator.stop();
    await pipe.close();
    await world.stop();
  }
});
