import { expect, test } from "vitest";
import { ask, pathIn } from "./ask.fixture.ts";
import { bareCluster } from "./bare-cluster.fixture.ts";
import { CASES } from "./conformance.fixture.ts";

const { handler } = bareCluster();

test.each(CASES)("[SA60] $title is answered with $status", ({ method, path, body, type, status }) => {
  const { answer, ...asked } = ask(handler, { method, path: pathIn("shop", path), body, type });
  expect({ status: asked.status, answer }).toMatchObject({ status });
});
