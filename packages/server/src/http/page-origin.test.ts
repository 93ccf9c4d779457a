import { expect, test } from "vitest";
import { otherPagesRefusal } from "./page-origin.ts";

const PORTAL = "https://portal.example.com";

function isRefused(
  headers: Record<string, string>,
  publicUrl = "https://b.example.com",
  isLocal = false,
  listening = "http://127.0.0.1:8080",
): boolean {
  const listenUrl = () => listening;
  const refuse = otherPagesRefusal({ isLocal, publicUrl: () => publicUrl, listenUrl, corsOrigins: [PORTAL] });
  try {
    refuse(headers);
    return false;
  } catch (error) {
    expect(error).toMatchObject({ kind: "forbidden", message: expect.stringContaining(new URL(publicUrl).origin) });
    return true;
  }
}

test.each([
  [undefined, false],
  ["https://b.example.com", false],
  [PORTAL, false],
  ["http://b.example.com", true],
  ["https://b.example.com.evil.com", true],
  ["https://evil.com/b.example.com", true],
  ["https://b.example.com:8443", true],
  ["https://localhost", true],
  ["null", true],
  ["", true],
])("[OP66] a page of %j is refused: %s, whatever the Host header says", (origin, refused) => {
  for (const host of ["b.example.com", origin ?? "evil.com"]) {
    expect(isRefused(origin === undefined ? { host } : { host, origin })).toBe(refused);
    expect(isRefused(origin === undefined ? { host } : { host, origin, "sec-fetch-site": "same-origin" })).toBe(
      refused,
    );
  }
});

test.each([
  ["cross-site", undefined, true],
  ["same-site", undefined, true],
  ["same-origin", undefined, false],
  ["none", undefined, false],
  ["cross-site", PORTAL, false],
  ["cross-site", "https://b.example.com", true],
])("[OP66] a request that is %s, with the origin %j, is refused: %s", (site, origin, refused) => {
  expect(isRefused({ "sec-fetch-site": site, ...(origin ? { origin } : {}) })).toBe(refused);
});

test.each([
  ["http://127.0.0.1:8080", false],
  ["http://localhost:8080", false],
  ["http://shop.localhost:8080", false],
  ["http://[::1]:8080", false],
  ["http://localhost:3000", true],
  ["https://localhost:8080", true],
  ["http://attacker.example:8080", true],
])("[OP66] a local server at 127.0.0.1:8080 refuses a page of %s: %s", (origin, refused) => {
  for (const publicUrl of ["http://127.0.0.1:8080", "http://host.docker.internal:8080"]) {
    expect(isRefused({ origin }, publicUrl, true)).toBe(refused);
  }
  expect(isRefused({ origin }, "http://b.example.com", false)).toBe(true);
});

test.each([
  ["https://localhost:8443", false],
  ["http://localhost:8443", true],
])("[CF4107] a local server that serves TLS refuses a page of %s: %s", (origin, refused) => {
  expect(isRefused({ origin }, "https://lab.example", true, "https://127.0.0.1:8443")).toBe(refused);
});
