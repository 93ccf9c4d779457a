import { startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Machine, machine } from "./host.fixture.ts";

let world: World;
let on: Machine;
/** What kubectl was called with, without the access. */
let calls: string[][];
let created: { spec: { nodeName?: string; containers: { image: string; imagePullPolicy: string }[] } }[];

beforeAll(async () => {
  world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
  expect((await world.admin.api.post(`/orgs/${world.demoOrgId}/clusters`, { name: "edge" })).status).toBe(201);
});
afterAll(() => world?.stop());
beforeEach(() => {
  on = machine({ BINNACLE_URL: world.url, BINNACLE_TOKEN: world.admin.token });
  calls = [];
  created = [];
});

const preflight = (...more: string[]) => on.run("clusters", "preflight", "edge", "--org", "demo", ...more);

type State = object | null;

/** A cluster in which the pods have these states, one after another look; the last one stays. */
function cluster(states: readonly State[], { events = [] as string[], nodes = ["a"] } = {}): void {
  let looks = 0;
  on.kubectl = (args, input) => {
    const words = args.filter(
      (_, index) =>
        !["--namespace", "--context"].includes(args[index] ?? "") &&
        !["--namespace", "--context"].includes(args[index - 1] ?? ""),
    );
    calls.push([...words]);
    const said = (value: object) => ({ code: 0, out: JSON.stringify(value), err: "" });
    if (words[0] === "config") return { code: 0, out: "edge-admin\n", err: "" };
    if (words[0] === "create") created = JSON.parse(input).items;
    if (words[1] === "nodes")
      return said({
        items: nodes.map((name) => ({ metadata: { name }, spec: { unschedulable: name === "drained" } })),
      });
    if (words[1] === "events") return said({ items: events.map((message) => ({ message })) });
    if (words[0] === "get") {
      const state = states[Math.min(looks++, states.length - 1)];
      const status = state ? { containerStatuses: [{ state }] } : {};
      return said({
        items: created.map(({ spec }) => ({
          metadata: { name: "binnacle-preflight" },
          spec: { nodeName: spec.nodeName ?? "a" },
          status,
        })),
      });
    }
    return said({});
  };
}

const NO_HOST = 'failed to do request: Head "https://r": dial tcp: lookup binnacle.example.com: no such host';
const PULLED = { terminated: { exitCode: 0 } };
const waiting = (reason: string, message: string) => ({ waiting: { reason, message } });

test("[BC4038] a preflight has a node pull the operator's image, removes the pod, and ends with 0", async () => {
  cluster([null, waiting("ContainerCreating", ""), PULLED]);
  const ran = await preflight("--yes");
  expect(ran).toMatchObject({ code: 0, err: "" });
  expect(ran.out).toMatch(/^NODE +IMAGE +MESSAGE\na +pulled +The node has the image\.\n$/);
  expect(created.map(({ spec }) => spec.containers[0])).toMatchObject([
    { image: "registry.example.com/binnacle/operator:0.1.0", imagePullPolicy: "IfNotPresent" },
  ]);
  expect(calls.at(-1)?.slice(0, 2)).toEqual(["delete", "pods"]);
});

test("[BC4038] a preflight asks before it starts pods, and names the cluster that kubectl reaches", async () => {
  cluster([PULLED]);
  expect(await preflight()).toMatchObject({ code: 2, err: expect.stringContaining("the kubectl context edge-admin") });
  expect(created).toEqual([]);
});

test("[BC4038] a preflight of all nodes starts a pod on each that takes pods", async () => {
  cluster([PULLED], { nodes: ["a", "drained", "b"] });
  expect((await preflight("--yes", "--all-nodes", "-o", "name")).code).toBe(0);
  expect(created.map(({ spec }) => spec.nodeName)).toEqual(["a", "b"]);
});

test("[BC4039] a preflight that fails says in plain words what the node lacks and what helps, and ends with 1", async () => {
  cluster([waiting("ErrImagePull", NO_HOST)]);
  const ran = await preflight("--yes");
  expect(ran.code).toBe(1);
  expect(ran.out).toContain("does not resolve on the node");
  expect(ran.err).toContain("BINNACLE_IMAGES_DIR=<folder> npx binnacle-server images export operator");
  const { findings } = JSON.parse((await preflight("--yes", "-o", "json")).out);
  expect(findings).toMatchObject([{ node: "a", outcome: "failed", cause: "unresolved", said: NO_HOST }]);
  expect(calls.at(-1)?.[0]).toBe("delete");
});

test("[BC4039] a preflight reads the reason from an event where the kubelet leaves it out", async () => {
  cluster([waiting("ImagePullBackOff", 'Back-off pulling image "x"')], {
    events: ["Error: ErrImagePull", `Failed to pull image "x": ${NO_HOST}`],
  });
  expect((await preflight("--yes")).out).toContain("does not resolve on the node");
});

test("[BC4039] a preflight tells an image that the node cannot run from one that it cannot pull", async () => {
  cluster([{ terminated: { exitCode: 128, message: "exec: no such file" } }]);
  const ran = await preflight("--yes", "-o", "wide");
  expect([ran.code, ran.out]).toEqual([1, expect.stringMatching(/cannot run it\. +exec: no such file/)]);
});

test("[BC4040] a preflight that nobody answers in time ends with 6, and removes its pods", async () => {
  cluster([null]);
  const ran = await preflight("--yes", "--timeout", "5s");
  expect([ran.code, ran.out]).toEqual([6, expect.stringContaining("has not ended the pull in time")]);
  expect(calls.at(-1)?.[0]).toBe("delete");
});

test("[BC4040] a preflight tells what kubectl says, without control characters", async () => {
  on.kubectl = () => ({ code: 1, out: "", err: "Unable to connect \u001b[2J" });
  expect(await preflight("--yes")).toMatchObject({
    code: 1,
    err: expect.stringContaining("Unable to connect \\x1b[2J"),
  });
});
