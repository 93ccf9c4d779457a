import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InformerCache, keyOf, missedBy, reconnectMs, relistAfterMs } from "./informer-cache.ts";
import type { KubeObject } from "./kube-client.ts";

const object = (name: string, resourceVersion: string, uid = name): KubeObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name, namespace: "ns", resourceVersion, uid },
});

function handle(cache: InformerCache<KubeObject>, key: string): void {
  const pending = cache.pending(key);
  if (pending) cache.handled(key, pending);
}

describe("the cache", () => {
  test("[KU21] the informer cache holds an object once it was handled, and until its deletion was handled", () => {
    const cache = new InformerCache<KubeObject>();
    const key = cache.changed(object("a", "1"));
    expect([key, cache.get(key), cache.list()]).toEqual(["ns/a", undefined, []]);
    handle(cache, key);
    expect(cache.list()).toEqual([object("a", "1")]);
    cache.sawGone(object("a", "2"));
    expect(cache.get(key)).toEqual(object("a", "1"));
    expect(cache.pending(key)).toEqual({ object: null });
    handle(cache, key);
    expect([cache.get(key), cache.pending(key)]).toEqual([undefined, undefined]);
  });

  test("[KU21] the informer cache keeps a state that came while an older one was handled", () => {
    const cache = new InformerCache<KubeObject>();
    const key = cache.changed(object("a", "1"));
    const older = cache.pending(key);
    cache.changed(object("a", "2"));
    if (older) cache.handled(key, older);
    expect(cache.get(key)).toEqual(object("a", "1"));
    expect(cache.pending(key)).toEqual({ object: object("a", "2") });
  });

  test("[KU22] the informer cache finds in a list what is new, changed, gone or replaced under the same name", () => {
    const cache = new InformerCache<KubeObject>();
    for (const name of ["same", "changed", "gone", "replaced"]) handle(cache, cache.changed(object(name, "1")));
    cache.changed(object("unhandled", "1"));
    const list = [
      object("same", "1"),
      object("changed", "2"),
      object("new", "1"),
      object("replaced", "1", "other"),
      object("unhandled", "1"),
    ];
    const { changed, gone } = cache.sawAll(list);
    expect(changed.map(keyOf)).toEqual(["ns/changed", "ns/new", "ns/replaced"]);
    expect(gone).toEqual(["ns/gone"]);
    expect(cache.sawAll(list)).toEqual({ changed: [], gone: [] });
  });

  test("[KU22] the informer cache shows what a list says once all is handled, whatever was seen before", () => {
    const version = fc.nat(3).map(String);
    const objects = fc
      .dictionary(fc.constantFrom("a", "b", "c", "d"), version)
      .map((all) => Object.entries(all).map(([name, v]) => object(name, v)));
    const seen = fc.array(
      fc.record({ gone: fc.boolean(), handled: fc.boolean(), name: fc.constantFrom("a", "b", "c", "d"), version }),
    );
    fc.assert(
      fc.property(seen, objects, (events, list) => {
        const cache = new InformerCache<KubeObject>();
        for (const event of events) {
          const one = object(event.name, event.version);
          const key = event.gone ? cache.sawGone(one) : cache.changed(one);
          if (event.handled) handle(cache, key);
        }
        cache.sawAll(list);
        for (const name of ["a", "b", "c", "d"]) handle(cache, `ns/${name}`);
        expect(new Set(cache.list())).toEqual(new Set(list));
      }),
    );
  });

  test("[KU24] changes that the watch should have shown and deleted objects count as missed", () => {
    const differences = { changed: [object("a", "99"), object("b", "100"), object("c", "101")], gone: ["ns/d"] };
    expect(missedBy("100", differences)).toBe(3);
    expect(missedBy("opaque", differences)).toBe(1);
  });

  test("[KU24] informers list again about every hour, each at a time of its own", () => {
    expect([0, 0.5, 1].map((random) => relistAfterMs(random) / 60_000)).toEqual([45, 60, 75]);
    // Timers take no fractions.
    expect(Number.isInteger(relistAfterMs(0.123_456_789))).toBe(true);
  });

  test("[KU23] an informer waits longer after each failure, at most half a minute, with jitter", () => {
    expect([0, 1, 2, 3, 7, 99].map((failures) => reconnectMs(failures, 1))).toEqual([
      0, 500, 1000, 2000, 30_000, 30_000,
    ]);
    expect(reconnectMs(3, 0.25)).toBe(500);
  });
});
