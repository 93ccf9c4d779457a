import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isAllowedHost, isPublicAddress } from "./address.ts";

describe("an address", () => {
  test.each(["1.1.1.1", "93.184.216.34", "172.32.0.1", "100.128.0.1", "168.63.129.15", "2606:4700::1111", "2a00::1"])(
    "[OB1] the address %s is public",
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  test.each([
    ["unspecified", "0.0.0.0"],
    ["private", "10.1.2.3"],
    ["private", "172.16.0.1"],
    ["private", "172.31.255.255"],
    ["private", "192.168.1.1"],
    ["shared by carriers", "100.64.0.1"],
    ["loopback", "127.0.0.1"],
    ["loopback", "127.255.255.254"],
    ["link-local, with the metadata of clouds", "169.254.169.254"],
    ["Azure's metadata", "168.63.129.16"],
    ["for protocols", "192.0.0.192"],
    ["for documentation", "203.0.113.9"],
    ["for benchmarks", "198.18.0.1"],
    ["multicast", "224.0.0.1"],
    ["reserved", "240.0.0.1"],
    ["broadcast", "255.255.255.255"],
    ["unspecified", "::"],
    ["loopback", "::1"],
    ["mapped", "::ffff:127.0.0.1"],
    ["mapped, though the inner one is public", "::ffff:1.1.1.1"],
    ["compatible", "::127.0.0.1"],
    ["translated", "64:ff9b::7f00:1"],
    ["translated locally", "64:ff9b:1::7f00:1"],
    ["tunnelled by 6to4", "2002:7f00:1::"],
    ["tunnelled by Teredo", "2001::1"],
    ["unique local, with AWS's metadata", "fd00:ec2::254"],
    ["link-local", "fe80::1"],
    ["site-local", "fec0::1"],
    ["multicast", "ff02::1"],
    ["for documentation", "2001:db8::1"],
    ["for documentation", "3fff::1"],
    ["a name", "localhost"],
    ["nothing", ""],
  ])("[OB1] an address is not public when it is %s: %s", (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test("[OB1] an IPv6 address that carries an IPv4 address inside is never public", () => {
    fc.assert(fc.property(fc.ipV4(), (inner) => !isPublicAddress(`::ffff:${inner}`)));
  });
});

describe("the list of allowed hosts", () => {
  test.each([
    ["https://charts.internal/x", true],
    ["http://CHARTS.internal:8080", true],
    ["https://10.0.0.7:5000", true],
    ["https://10.0.0.7", false],
    ["https://evil.charts.internal", false],
    ["https://charts.internal.evil", false],
    ["https://secure.internal", true],
    ["http://secure.internal", false],
  ])("[OB2] the list of allowed hosts holds %s: %s", (url, expected) => {
    const allowed = ["charts.internal", "10.0.0.7:5000", "secure.internal:443"];
    expect(isAllowedHost(allowed, new URL(url))).toBe(expected);
  });
});
