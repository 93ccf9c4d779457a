import fc from "fast-check";
import { expect, test } from "vitest";
import { bodyOf, describeOperation, targetOf } from "./operation.ts";

const getApp = describeOperation("getApp");

test("[CN2] parameters of the path are filled in, and the rest of the input becomes the query", () => {
  expect(targetOf(getApp, { namespace: "shop", name: "a b", project_id: "1&2", body: {}, extra: undefined })).toBe(
    "/apps/shop/a%20b?project_id=1%262",
  );
});

test("[CN2] a parameter with several values is repeated, with each value encoded", () => {
  const target = targetOf(describeOperation("listOrgs"), { phase: ["failed", "a&b"], none: [] });
  expect(target).toBe("/orgs?phase=failed&phase=a%26b");
  expect(() => targetOf(describeOperation("listOrgs"), { phase: [{}] })).toThrow(/listOrgs: "phase" must/);
});

test("[CN2] a parameter of the path cannot lead to another path", () => {
  const base = "https://binnacle.test/api/v1";
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.constantFrom(".", "..", "", "%2e%2e", "../x", "/", "\\", "?", "#", "..;/")),
      (name) => {
        let target: string;
        try {
          target = targetOf(getApp, { namespace: "shop", name });
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
          return;
        }
        const url = new URL(base + target);
        expect(url.pathname.split("/").slice(0, 5)).toEqual(["", "api", "v1", "apps", "shop"]);
        expect(decodeURIComponent(url.pathname.split("/")[5] ?? "")).toBe(name);
        expect([url.search, url.hash, url.pathname.split("/").length]).toEqual(["", "", 6]);
      },
    ),
  );
});

test.each([[""], ["."], [".."], [undefined], [null], [{}]])(
  "[CN2] %j is refused in a path, by the name of the parameter",
  (name) => {
    expect(() => targetOf(getApp, { namespace: "shop", name })).toThrow(/getApp: "name" must/);
  },
);

test("[CN3] a body is written as its operation takes it, without undefined fields", async () => {
  expect(bodyOf(describeOperation("createOrg"), { name: "a", description: undefined })).toEqual({
    content: '{"name":"a"}',
    type: "application/json",
  });
  expect(bodyOf(describeOperation("login"), { username: "a", password: "b&c", scope: undefined })).toEqual({
    content: "username=a&password=b%26c",
    type: "application/x-www-form-urlencoded",
  });
  const parts = bodyOf(describeOperation("createStackTemplateFromYaml"), { file: new Blob(["name: x"]), create: true });
  const form = parts?.content as FormData;
  expect([parts?.type, form.get("create"), await (form.get("file") as Blob).text()]).toEqual([null, "true", "name: x"]);
  expect(bodyOf(getApp, undefined)).toBeNull();
});

test("[CN2] an operation that does not exist is named in the error", () => {
  expect(() => describeOperation("toString" as never)).toThrow('There is no operation "toString".');
});
