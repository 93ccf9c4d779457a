import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { baseUrl, filled, integer, oneOf, type Parser, plainUrl, url } from "./parsers.ts";

describe("a parser", () => {
  test.each<[string, Parser<unknown>, string, unknown]>([
    ["filled", filled, " x ", " x "],
    ["oneOf", oneOf(["on", "off"]), "off", "off"],
    ["integer", integer(0, 65_535), "0", 0],
    ["integer", integer(0, 65_535), "65535", 65_535],
    ["url", url("redis:", "rediss:"), "rediss://robot:hush@cache:6380/?x", "rediss://robot:hush@cache:6380/?x"],
    ["baseUrl", baseUrl, "https://Binnacle.example.com:443//", "https://binnacle.example.com"],
    ["baseUrl", baseUrl, "http://[::1]:8080/base/", "http://[::1]:8080/base"],
  ])("[CF9] the parser %s accepts a value that fits", (_, parse, text, value) => {
    expect(parse(text)).toEqual(value);
  });

  test.each<[string, Parser<unknown>, string, string]>([
    ["filled", filled, " ", "must not be blank"],
    ["oneOf", oneOf(["on", "off"]), "On", "must be one of on, off"],
    ["integer", integer(1, 9), "0", "must be a whole number from 1 to 9"],
    ["integer", integer(1, 9), "10", "must be a whole number from 1 to 9"],
    ["integer", integer(1, 9), "-1", "must be a whole number from 1 to 9"],
    ["integer", integer(1, 9), "1.5", "must be a whole number from 1 to 9"],
    ["integer", integer(1, 9), "0x5", "must be a whole number from 1 to 9"],
    ["integer", integer(1, 9), " 5", "must be a whole number from 1 to 9"],
    ["url", url("redis:", "rediss:"), "http://cache", "must be an address that begins with redis:// or rediss://"],
    ["url", url("redis:"), "cache:6379", "must be an address that begins with redis://"],
    ["plainUrl", plainUrl("ws:"), "ws://robot@hub", "must have neither a user nor a password"],
    ["plainUrl", plainUrl("ws:"), "ws://:hush@hub", "must have neither a user nor a password"],
    ["plainUrl", plainUrl("ws:"), "ws://hub/?token=x", "must have neither a query nor a fragment"],
    ["baseUrl", baseUrl, "ftp://binnacle.example.com", "must be an address that begins with http:// or https://"],
    ["baseUrl", baseUrl, "https://binnacle.example.com/#x", "must have neither a query nor a fragment"],
  ])("[CF9] the parser %s refuses a value that does not fit, in words for a sentence", (_, parse, text, problem) => {
    expect(() => parse(text)).toThrow(new Error(problem));
  });

  test("[CF9] the parser integer accepts every whole number in its range, and none outside", () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.nat(1_000), fc.nat(1_000), (value, one, other) => {
        const [minimum, maximum] = [Math.min(one, other), Math.max(one, other)];
        const parse = integer(minimum, maximum);
        if (value >= minimum && value <= maximum) expect(parse(String(value))).toBe(value);
        else expect(() => parse(String(value))).toThrow(/^must be/);
      }),
    );
  });
});
