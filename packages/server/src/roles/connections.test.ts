import { expect, test } from "vitest";
import { connectionShares } from "./connections.ts";

test.each([
  ["beside the API", ["api", "hub", "worker"], 20, 4],
  ["without the API", ["hub"], 20, 15],
  ["without the API, with background work", ["hub", "worker"], 20, 12],
  ["where there is no hub", ["api"], 20, 0],
  ["where there are too few to divide", ["api", "hub"], 2, 0],
])("[HB67] %s a hub has its part of the database connections to itself", (_, roles, poolSize, connections) => {
  expect(connectionShares(poolSize, roles).hub).toBe(connections);
});

test.each([
  ["beside the API", ["api", "hub", "worker"], 20, { hub: 4, worker: 2, queue: 2, others: 11 }],
  ["beside many others", ["api", "hub", "worker"], 80, { hub: 17, worker: 10, queue: 2, others: 50 }],
  ["beside a hub", ["hub", "worker"], 20, { hub: 12, worker: 2, queue: 2, others: 4 }],
  ["beside a hub with few", ["hub", "worker"], 12, { hub: 6, worker: 2, queue: 2, others: 2 }],
  ["by itself, as all are its own", ["worker"], 20, { hub: 0, worker: 0, queue: 2, others: 18 }],
  ["where there are too few to divide", ["api", "hub", "worker"], 11, { hub: 2, worker: 0, queue: 0, others: 8 }],
])(
  "[DB31] a worker %s has connections of its own, so that no list holds up the leases of jobs",
  (_, roles, size, shares) => {
    expect(connectionShares(size, roles)).toEqual(shares);
  },
);
