import { describe, expect, test } from "vitest";
import { Fault } from "../fault.ts";
import { describedRoutes } from "../routes.ts";
import { etagOf, requireMatch } from "./etag.ts";
import { openApiDocument } from "./openapi.ts";

const read = { id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11", version: 3 };
const tag = etagOf(read);

function matches(condition: string | undefined): boolean {
  try {
    requireMatch(condition === undefined ? {} : { "if-match": condition }, read);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(Fault);
    expect((error as Fault).kind).toBe("precondition_failed");
    return false;
  }
}

describe("If-Match", () => {
  test.each([undefined, "*", " * ", tag, `"x", ${tag}`, `${tag},"x"`, `W/"x", ${tag}`])(
    "[AP18] the If-Match condition %j is met",
    (condition) => {
      expect(matches(condition)).toBe(true);
    },
  );

  test.each([
    "",
    '"x"',
    tag.replaceAll('"', ""),
    `W/${tag}`,
    etagOf({ ...read, version: 4 }),
    etagOf({ ...read, id: "x" }),
  ])("[AP18] the If-Match condition %j is not met", (condition) => {
    expect(matches(condition)).toBe(false);
  });
});

test("[AP18] the description of the API names the header If-Match, the ETag and the 412", () => {
  const app = describedRoutes().filter(({ operation }) => operation.path === "/apps/{namespace}/{name}");
  const { paths, components } = openApiDocument(app, { serverUrl: "/api/v1" }) as {
    paths: Record<
      string,
      Record<string, { parameters: { name?: string; $ref?: string }[]; responses: Record<string, { $ref?: string }> }>
    >;
    components: { parameters: Record<string, { name: string }>; responses: Record<string, { headers?: object }> };
  };
  const { get, patch } = paths["/apps/{namespace}/{name}"] ?? {};
  const names = (operation: typeof get) =>
    operation?.parameters.map((it) => it.name ?? components.parameters[it.$ref?.split("/").at(-1) ?? ""]?.name);
  expect(names(patch)).toContain("If-Match");
  expect(Object.keys(patch?.responses ?? {})).toContain("412");
  expect(names(get)).not.toContain("If-Match");
  const shared = get?.responses["200"]?.$ref?.split("/").at(-1) ?? "";
  expect(components.responses[shared]?.headers).toHaveProperty("ETag");
});
