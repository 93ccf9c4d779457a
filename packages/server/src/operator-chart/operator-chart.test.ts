import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const template = (name: string) =>
  readFileSync(new URL(`../../../../deploy/charts/binnacle-operator/templates/${name}`, import.meta.url), "utf8");

test("[CL53] the operator's container is not root, its root file system is read-only, and it gets no service links", () => {
  const deployment = template("deployment.yaml");
  expect(deployment).toContain("enableServiceLinks: false");
  expect(deployment).toContain("runAsNonRoot: true");
  expect(deployment).toContain("readOnlyRootFilesystem: true");
  expect(deployment).toContain("allowPrivilegeEscalation: false");
  expect(deployment).toMatch(/name: BINNACLE_TOKEN\s+valueFrom:\s+secretKeyRef:/);
});
