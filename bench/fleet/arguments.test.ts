import { describe, expect, test } from "vitest";
import { parseFleetArguments } from "./arguments.ts";

describe("the options of a rehearsal", () => {
  test("[FL1] the default options of a rehearsal are a small fleet with a control plane of its own", () => {
    expect(parseFleetArguments([])).toEqual({
      options: {
        clusters: 10,
        apps: 1,
        processes: 2,
        pace: 20,
        url: null,
        username: "admin",
        password: "binnacle",
        isKept: false,
      },
    });
  });

  test("[FL1] the options of a rehearsal are taken as they are given", () => {
    const given = ["--clusters", "1000", "--apps=3", "--processes", "4", "--pace", "50", "--keep"];
    expect(parseFleetArguments([...given, "--url", "https://binnacle.example.com/base/"])).toMatchObject({
      options: {
        clusters: 1000,
        apps: 3,
        processes: 4,
        pace: 50,
        url: "https://binnacle.example.com/base",
        isKept: true,
      },
    });
    expect(parseFleetArguments(["--managed"])).toMatchObject({ options: { url: null } });
    expect(parseFleetArguments([], { FLEET_PASSWORD: "p" })).toMatchObject({ options: { password: "p" } });
    expect(parseFleetArguments(["--help"])).toEqual({ help: true });
  });

  test.each([
    [["--clusters", "0"], "--clusters must be a whole number from 1 to 10000."],
    [["--clusters", "many"], "--clusters must be a whole number from 1 to 10000."],
    [["--pace", "1.5"], "--pace must be a whole number from 1 to 10000."],
    [["--processes", "65"], "--processes must be a whole number from 1 to 64."],
    [["--url", "ftp://x"], "--url must be an address that begins with http:// or https://."],
    [["--url", "http://a:b@x"], "--url must have neither a user nor a password."],
    [["--url", "http://x", "--managed"], "--managed and --url exclude each other."],
  ])("[FL1] the options %j of a rehearsal are refused", (given, problem) => {
    expect(parseFleetArguments(given)).toEqual({ problem });
  });

  test("[FL1] unknown options of a rehearsal are refused", () => {
    expect(parseFleetArguments(["--cluster", "3"])).toMatchObject({ problem: expect.stringContaining("--cluster") });
    expect(parseFleetArguments(["3"])).toMatchObject({ problem: expect.stringContaining("3") });
  });
});
