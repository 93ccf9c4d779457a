import { expect, test } from "vitest";
import { pageOfTags, registryRequest } from "./registry-request.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

test.each([
  ["", { kind: "base" }],
  ["binnacle/server/tags/list", { kind: "tags", repository: "binnacle/server" }],
  ["binnacle/server/manifests/0.1.0", { kind: "manifests", repository: "binnacle/server", reference: "0.1.0" }],
  [`a/b/c/blobs/${DIGEST}`, { kind: "blobs", repository: "a/b/c", reference: DIGEST }],
  [`a/referrers/${DIGEST}`, { kind: "referrers", repository: "a", reference: DIGEST }],
  ["_catalog", null],
  ["binnacle/server", null],
  ["../manifests/1", null],
  ["binnacle/server/manifests/../../1", null],
  [`${"a/".repeat(300)}b/manifests/1`, null],
])("[IR1] the path /v2/%s asks for what the distribution specification says", (path, expected) => {
  expect(registryRequest(path)).toEqual(expected);
});

test("[IR6] tags come in pages that follow each other", () => {
  const tags = ["0.2.0", "0.1.0", "0.10.0"];
  expect(pageOfTags(tags, {})).toEqual({ tags: ["0.1.0", "0.10.0", "0.2.0"], hasMore: false });
  expect(pageOfTags(tags, { n: "2" })).toEqual({ tags: ["0.1.0", "0.10.0"], hasMore: true });
  expect(pageOfTags(tags, { n: "2", last: "0.10.0" })).toEqual({ tags: ["0.2.0"], hasMore: false });
  expect(pageOfTags(tags, { n: "0" })).toEqual({ tags: [], hasMore: false });
  expect(pageOfTags(tags, { n: "many" }).tags).toHaveLength(3);
});
