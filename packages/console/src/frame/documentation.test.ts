import { expect, test } from "vitest";
import { isDocumentationOpen } from "./documentation.ts";

test.each([
  ["local", 200, false, true],
  ["staging, for a superuser", 401, true, true],
  ["staging, for anybody else", 401, false, false],
  ["production", 404, true, false],
  ["a server that fails", 503, true, false],
])(
  "[WC198] the link to the documentation of the API is shown, or not shown, in %s",
  (_, status, isSuperuser, isOffered) => {
    expect(isDocumentationOpen(status, isSuperuser)).toBe(isOffered);
  },
);
