import pc from "picocolors";
import { expect, test } from "vitest";
import { momentMs, prefixer, shortPod } from "./log-lines.ts";

const line = (component: string, pod: string) => ({ component, pod, container: component, time: "T1", line: "hello" });
const plain = pc.createColors(false);

test.each([
  ["front-web-7d9f8c6b5-x2k4p", "web", "x2k4p"],
  ["front-db-0", "db", "0"],
  ["another", "web", "another"],
])("[BC2907] the pod %s of component %s is called %s", (pod, component, short) => {
  expect(shortPod("front", { component, pod })).toBe(short);
});

test("[BC2907] lines carry their component where there are several, and their pod where it has several", () => {
  const both = { app: "front", components: ["web", "worker"], replicated: new Set(["web"]), hasTime: false };
  const before = prefixer(both, plain);
  expect(before(line("web", "front-web-7d9-x2k4p"))).toBe("web    x2k4p ");
  expect(before(line("worker", "front-worker-7d9-aaaaa"))).toBe("worker ");
  const one = { ...both, components: ["web"], replicated: new Set<string>() };
  expect(prefixer(one, plain)(line("web", "front-web-7d9-x2k4p"))).toBe("");
  expect(prefixer({ ...one, hasTime: true }, plain)(line("web", "p"))).toBe("T1 ");
});

test("[BC2907] each pod keeps a colour of its own", () => {
  const before = prefixer(
    { app: "front", components: ["web", "worker"], replicated: new Set(["web"]), hasTime: false },
    pc.createColors(true),
  );
  const [first, second] = [before(line("web", "front-web-1-a")), before(line("web", "front-web-1-b"))];
  expect(first.slice(0, 5)).not.toBe(second.slice(0, 5));
  expect(before(line("web", "front-web-1-a"))).toBe(first);
});

test("[BC2907] a beginning and an end of a log are a time, or how long ago", () => {
  const now = Date.parse("2026-01-31T10:00:00Z");
  expect(momentMs("--since", "15m", now)).toBe(now - 900_000);
  expect(momentMs("--until", "2026-01-31T09:00:00Z", now)).toBe(now - 3_600_000);
  expect(() => momentMs("--until", "2026-99-99", now)).toThrow("--until takes a time such as");
  expect(() => momentMs("--since", "soon", now)).toThrow("--since takes a duration");
});
