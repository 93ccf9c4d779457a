import { expect, test } from "vitest";
import { ask, pathIn } from "./ask.fixture.ts";
import { bareCluster } from "./bare-cluster.fixture.ts";
import { CASES } from "./conformance.fixture.ts";

const { handler } = bareCluster();

test.each(CASES)("[SA60] $title is answered with $status", ({ path, status, ...request }) => {
  const { answer, ...asked } = ask(handler, { ...request, path: pathIn("shop", path) });
  expect({ status: asked.status, answer }).toMatchObject({ status });
});
