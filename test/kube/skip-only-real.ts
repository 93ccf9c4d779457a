import { beforeEach } from "vitest";
import { TESTS_ONLY_REAL } from "./only-real.ts";

beforeEach(({ task, skip }) => {
  const found = Object.entries(TESTS_ONLY_REAL).find(([name]) => task.name.startsWith(name));
  if (found) skip(found[1]);
});
