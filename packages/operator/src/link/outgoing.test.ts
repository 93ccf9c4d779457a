import { randomUUID } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import type { OutgoingFrame } from "./frames.ts";
import { createOutgoing, inventoryPages, type Wire } from "./outgoing.ts";

const session = randomUUID();
const heartbeat: OutgoingFrame = { type: "heartbeat" };

/** A network that takes nothing until it is told to. */
function slowWire() {
  const waiting: { readonly bytes: number; readonly onTaken: (() => void) | undefined }[] = [];
  const written: { type: string; ref?: string; session: string }[] = [];
  const wire: Wire = {
    get bufferedBytes() {
      return waiting.reduce((sum, { bytes }) => sum + bytes, 0);
    },
    write(text, onTaken) {
      written.push(JSON.parse(text));
      waiting.push({ bytes: text.length, onTaken });
    },
  };
  const take = () => waiting.shift()?.onTaken?.();
  return { wire, written, take };
}

const line = {
  component: "web",
  pod: "web-0",
  container: "web",
  time: "2026-01-31T09:30:00.000Z",
  line: "x".repeat(50_000),
};
const bulk = (ref: string): OutgoingFrame => ({ type: "stream_data", ref, lines: [line], dropped: 0 });

function endless(ref = randomUUID()) {
  return { ref, next: vi.fn(() => bulk(ref)) };
}

describe("what goes out", () => {
  test("[OL27] bulk frames are held back while 256 KiB wait, and urgent frames are sent all the same", () => {
    const { wire, written, take } = slowWire();
    const outgoing = createOutgoing(wire, { session, sources: [endless()], onInvalid: vi.fn() });
    outgoing.pump();
    expect(written).toHaveLength(6);
    outgoing.urgent(heartbeat);
    expect(written.at(-1)).toEqual({ type: "heartbeat", session });
    take();
    expect(written).toHaveLength(8);
    expect(wire.bufferedBytes).toBeLessThan(320 * 1024);
  });

  test("[OL27] each source of outgoing frames gets its turn", () => {
    const { wire, written } = slowWire();
    const [one, other] = [endless(), endless()];
    createOutgoing(wire, { session, sources: [one, other], onInvalid: vi.fn() }).pump();
    expect(written.map(({ ref }) => ref)).toEqual([one, other, one, other, one, other].map(({ ref }) => ref));
  });

  test("[OL28] a frame for which the hub would end the session is not sent", () => {
    const { wire, written } = slowWire();
    const onInvalid = vi.fn();
    const outgoing = createOutgoing(wire, { session, sources: [], onInvalid });
    const metrics = { step: "15s", series: [{ name: "x".repeat(3_000_000), unit: "", labels: {}, points: [] }] };
    const large: OutgoingFrame = { type: "response", ref: randomUUID(), answer: { metrics } };
    expect(outgoing.urgent(large)).toBe(false);
    const malformed = { ...bulk(randomUUID()), lines: [{ line: 7 }] } as unknown as OutgoingFrame;
    expect(outgoing.urgent(malformed)).toBe(false);
    expect(written).toEqual([]);
    expect(onInvalid.mock.calls.map(([, why]) => why)).toEqual([
      "it is too large",
      expect.stringMatching(/^it is malformed at \/lines/),
    ]);
  });

  test("[OL27] nothing is sent after the session has stopped", () => {
    const { wire, written } = slowWire();
    const outgoing = createOutgoing(wire, { session, sources: [endless()], onInvalid: vi.fn() });
    outgoing.stop();
    outgoing.pump();
    outgoing.urgent(heartbeat);
    expect(written).toEqual([]);
  });
});

describe("an inventory", () => {
  const entries = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      key: `project/p${i}`,
      resource_id: randomUUID(),
      generation: 1,
      hash: "0".repeat(64),
    }));
  test.each([
    [0, [[0, false]]],
    [1, [[1, false]]],
    [500, [[500, false]]],
    [
      1_200,
      [
        [500, true],
        [500, true],
        [200, false],
      ],
    ],
  ])("[OL10] an inventory of %i entries is sent in pages, of which the last says so", (count, pages) => {
    const source = inventoryPages(entries(count));
    const sent = [];
    for (let page = source.next(); page?.type === "inventory"; page = source.next()) {
      sent.push([page.entries.length, page.more]);
    }
    expect(sent).toEqual(pages);
  });
});
