import { expect, test } from "vitest";
import { parseSearch, stringifySearch } from "./search.ts";

test.each([
  ["", {}],
  ["?from=1.10&to=1.2", { from: "1.10", to: "1.2" }],
  ["?q=true&tab=null", { q: "true", tab: "null" }],
  ["?q=&tab=logs", { tab: "logs" }],
  ["?q=a%20b%26c", { q: "a b&c" }],
  [`?q=${"x".repeat(501)}`, {}],
])("[WC9] the query %s of an address is read as plain text", (query, search) => {
  expect(parseSearch(query)).toEqual(search);
});

test.each([{}, { q: "007" }, { q: 'a "b" & c=d', tab: "logs" }, { from: "1.10" }])(
  "[WC9] the choices %j are the same after they were written to an address and read again",
  (search) => {
    expect(parseSearch(stringifySearch(search))).toEqual(search);
  },
);

test("[WC9] choices are written to the address without quotes", () => {
  expect(stringifySearch({ q: "42", tab: undefined })).toBe("?q=42");
});
