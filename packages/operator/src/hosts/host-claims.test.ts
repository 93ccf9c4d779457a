import { describe, expect, test } from "vitest";
import { type Demand, decideHosts, MOST_HOSTS } from "./host-claims.ts";
import { demandsOf, firstRecords, nextRecords, recordIn, recordPatch } from "./host-records.ts";

const T1 = "2026-01-01T00:00:00Z";
const T2 = "2026-01-02T00:00:00Z";
const demand = (namespace: string, host: string, more: Partial<Demand> = {}): Demand => ({
  namespace,
  host,
  isGranted: false,
  createdAt: T1,
  isOfProject: true,
  ...more,
});
const GIVEN = { isGranted: true };
const ELSEWHERE = { isOfProject: false };
/** `shop/a.example` for each that lost. */
const lost = (demands: readonly Demand[], records: Record<string, Record<string, string>> = {}) => {
  const stored = new Map(Object.entries(records).map(([name, hosts]) => [name, new Map(Object.entries(hosts))]));
  const places = decideHosts(demands, stored).taken.map(({ namespace, host }) => `${namespace}/${host}`);
  expect(decideHosts(demands.toReversed(), stored).taken.map(({ namespace, host }) => `${namespace}/${host}`)).toEqual(
    places,
  );
  return places;
};

describe("a host that two namespaces ask for", () => {
  test.each<[string, Demand[], Record<string, Record<string, string>>, string[]]>([
    ["stays where one asks for it twice", [demand("shop", "a.example"), demand("shop", "a.example")], {}, []],
    [
      "stays with who is on record, however old the other's route is",
      [demand("bank", "a.example", { createdAt: T1 }), demand("shop", "a.example", { createdAt: T2 })],
      { shop: { "a.example": T2 } },
      ["bank/a.example"],
    ],
    [
      "stays with an app, also where a chart's route is older, when nobody is on record",
      [demand("bank", "a.example"), demand("shop", "a.example", { ...GIVEN, createdAt: T2 })],
      {},
      ["bank/a.example"],
    ],
    [
      "stays with a chart that serves it, when an app asks for it later",
      [demand("bank", "a.example"), demand("shop", "a.example", { ...GIVEN, createdAt: null })],
      {},
      ["shop/a.example"],
    ],
    [
      "stays with the older route of two charts",
      [demand("bank", "a.example", { createdAt: T2 }), demand("shop", "a.example")],
      {},
      ["bank/a.example"],
    ],
    [
      "stays with the first name, where nothing else tells",
      [demand("shop", "a.example"), demand("bank", "a.example")],
      {},
      ["shop/a.example"],
    ],
    [
      "stays with both where both are on record",
      [demand("bank", "a.example"), demand("shop", "a.example")],
      { bank: { "a.example": T1 }, shop: { "a.example": T1 } },
      [],
    ],
    [
      "is for the control plane to decide where it gave it to both",
      [demand("bank", "a.example", GIVEN), demand("shop", "a.example", GIVEN)],
      {},
      [],
    ],
    [
      "is the cluster's own where its route is in no project",
      [demand("bank", "a.example"), demand("monitoring", "a.example", { ...ELSEWHERE, createdAt: T2 })],
      {},
      ["bank/a.example"],
    ],
    [
      "stays with a project on record, and nothing is taken from the cluster's own",
      [demand("bank", "a.example"), demand("monitoring", "a.example", ELSEWHERE)],
      { bank: { "a.example": T1 } },
      [],
    ],
  ])("[HE47] a host that two namespaces ask for %s", (_, demands, records, taken) => {
    expect(lost(demands, records)).toEqual(taken);
  });

  test.each<[string, Demand[], string[]]>([
    [
      "is refused over a name of another",
      [demand("shop", "a.example"), demand("bank", "*.example", { createdAt: T2 })],
      ["bank/*.example"],
    ],
    [
      "of a chart takes no names below it",
      [demand("bank", "*.example"), demand("shop", "a.example", { createdAt: T2 })],
      [],
    ],
    [
      "that the control plane gave takes all names below it",
      [demand("bank", "*.example", GIVEN), demand("shop", "b.a.example", { createdAt: T2 })],
      ["shop/b.a.example"],
    ],
    [
      "that the control plane gave leaves its apps to the control plane",
      [demand("bank", "*.example", GIVEN), demand("shop", "a.example", { ...GIVEN, createdAt: T2 })],
      [],
    ],
    [
      "and its domain are two hosts",
      [demand("bank", "*.example", GIVEN), demand("shop", "example", { createdAt: T2 })],
      [],
    ],
  ])("[HE48] a wildcard %s", (_, demands, taken) => {
    expect(lost(demands)).toEqual(taken);
  });

  test("[HE48] a project holds a thousand hosts of charts, and further ones are free for others but not for it", () => {
    const many = Array.from({ length: MOST_HOSTS + 5 }, (_, at) =>
      demand("bank", `h${String(at).padStart(5, "0")}.example`),
    );
    const last = many.at(-1)?.host ?? "";
    const { held } = decideHosts(many, new Map());
    expect(held).toHaveLength(MOST_HOSTS);
    expect(lost([...many, demand("shop", last, { createdAt: T2 })])).toEqual([]);
    expect(lost([...many, demand("shop", last)], { shop: { [last]: T1 } })).toEqual([`bank/${last}`]);
    const granted = demand("bank", "app.example", { ...GIVEN, createdAt: T2 });
    expect(decideHosts([...many, granted], new Map()).held).toContain(granted);
  });
});

describe("what a project has had", () => {
  const at = T2;
  const record = (entries: Record<string, string>) => new Map(Object.entries(entries));

  test("[HE47] the recorded hosts of a project keep their time, and follow the hosts that the project holds", () => {
    const before = new Map([["shop", record({ "a.example": T1, "b.example": T1 })]]);
    const held = [
      demand("shop", "a.example"),
      demand("shop", "c.example"),
      demand("kube-system", "d.example", ELSEWHERE),
    ];
    const after = nextRecords(before, held, at);
    expect(after).toEqual(new Map([["shop", record({ "a.example": T1, "c.example": T2 })]]));
    expect(recordPatch(before.get("shop") ?? new Map(), after.get("shop") ?? new Map())).toEqual({
      "b.example": null,
      "c.example": T2,
    });
    expect(recordPatch(record({ "a.example": T1 }), record({ "a.example": T1 }))).toBeNull();
    expect(recordIn({ hosts: { "a.example": T1, "b.example": 1 } })).toEqual(record({ "a.example": T1 }));
  });

  test("[HE47] when hosts are recorded for the first time a project gets every host that it serves", () => {
    const demands = [demand("bank", "a.example"), demand("shop", "a.example"), demand("other", "b.example", ELSEWHERE)];
    const first = firstRecords(new Map([["bank", new Map()]]), demands, at);
    expect(first).toEqual(
      new Map([
        ["bank", record({ "a.example": T2 })],
        ["shop", record({ "a.example": T2 })],
      ]),
    );
    expect(decideHosts(demands, first).taken).toEqual([]);
    const known = new Map([["bank", record({ "a.example": T1 })]]);
    expect(firstRecords(known, demands, at)).toBe(known);
  });

  test("[HE47] hosts are asked for by routes and apps, and the labels of a route do not make it an app's", () => {
    const project = (namespace: string) => ({ spec: { namespace } }) as Parameters<typeof demandsOf>[1][number];
    const app = (isDeleting: boolean, host: string) =>
      ({
        isDeleting,
        spec: { namespace: "shop", components: [{ workload_spec: { ingress: { host } } }, {}] },
      }) as unknown as Parameters<typeof demandsOf>[2][number];
    const route = (namespace: string, createdAt: string, ...hosts: string[]) =>
      ({ namespace, createdAt, hosts }) as unknown as Parameters<typeof demandsOf>[0][number];
    expect(
      demandsOf(
        [route("shop", T2, "a.example", "c.example"), route("shop", T1, "a.example"), route("dns", T1, "d.example")],
        [project("shop")],
        [app(false, "a.example"), app(true, "b.example")],
      ),
    ).toEqual([
      demand("shop", "a.example", GIVEN),
      demand("shop", "c.example", { createdAt: T2 }),
      demand("dns", "d.example", ELSEWHERE),
    ]);
  });
});
