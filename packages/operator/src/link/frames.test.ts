import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readHubFrame } from "./frames.ts";
import { order } from "./link.fixture.ts";

const session = randomUUID();
const apply = { ...order("shop"), session };

describe("a frame from the hub", () => {
  test("[OL19] a frame from the hub is read, and unknown fields are ignored", () => {
    expect(readHubFrame(JSON.stringify(apply))).toEqual({ frame: apply });
    const drain = { type: "drain", session, within_seconds: 3, whatever: "comes later" };
    expect(readHubFrame(JSON.stringify(drain))).toEqual({ frame: drain });
  });

  test("[OL21] an apply frame whose content is not understood is malformed, and the location is named", () => {
    const { body, ...rest } = apply;
    const bent = { ...rest, body: { ...body, spec: { ...body.spec, namespace: 7 } } };
    expect(readHubFrame(JSON.stringify(bent))).toMatchObject({
      malformed: { key: "project/shop", id: apply.id },
      where: "/body/spec/namespace",
    });
    expect(readHubFrame(JSON.stringify(rest))).toMatchObject({ malformed: { key: "project/shop" } });
  });

  test.each([
    ["no JSON", "{", /not a JSON object/],
    ["no object", "7", /not a JSON object/],
    ["an array", "[]", /not a JSON object/],
    ["nothing", "", /not a JSON object/],
    ["an object without a type", "{}", /not a JSON object with a type/],
    ["an unknown type", { type: "reboot", session }, /does not know/],
    ["a type that every object has", { type: "constructor", session }, /does not know/],
    ["a wrong form", { type: "drain", session, within_seconds: "hush" }, /drain is malformed at \/within_seconds/],
    ["an order without a key", { ...apply, key: "hush" }, /apply is malformed/],
    ["an order of an unknown kind", { ...apply, kind: "hush" }, /apply is malformed/],
    ["a session that is not an id", { type: "drain", session: "hush", within_seconds: 1 }, /malformed/],
  ])("[OL22] a frame from the hub that is %s is a problem, and nothing of it is quoted", (_, given, expected) => {
    const received = readHubFrame(typeof given === "string" ? given : JSON.stringify(given));
    expect(received).toMatchObject({ problem: expect.stringMatching(expected) });
    expect(JSON.stringify(received)).not.toContain("hush");
  });

  test("[OL22] a frame from the hub of any content is read or refused, and never throws", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void readHubFrame(text)));
  });
});
