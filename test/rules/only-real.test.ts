import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FILES_ONLY_REAL, FILES_WITH_HELM, TESTS_ONLY_REAL } from "../kube/only-real.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const onKubernetes = ["packages/*/src/**/*.kube.test.ts", "test/**/*.kube.test.ts"].flatMap((pattern) =>
  globSync(pattern, { cwd: ROOT }),
);

test("[SB10] files and tests that run only on a real Kubernetes exist, and have a reason", () => {
  const files = [...Object.keys(FILES_ONLY_REAL), ...FILES_WITH_HELM];
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  const names = onKubernetes.map((file) => readFileSync(join(ROOT, file), "utf8")).join("\n");
  expect(Object.keys(TESTS_ONLY_REAL).filter((name) => !names.includes(`"${name}`))).toEqual([]);
  const reasons = [...Object.values(FILES_ONLY_REAL), ...Object.values(TESTS_ONLY_REAL)];
  expect(reasons.filter((reason) => reason.length < 10)).toEqual([]);
});
