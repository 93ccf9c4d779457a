import { expect, test } from "vitest";
import { databaseStatus, hubStatus, queueStatus, sizeText } from "./system-status.ts";

const jobs = { pending: 0, running: 0, failed: 0, oldest_pending_seconds: null };

test.each([
  [jobs, "good"],
  [{ ...jobs, pending: 5, oldest_pending_seconds: 60 }, "good"],
  [{ ...jobs, failed: 1 }, "warning"],
  [{ ...jobs, pending: 1, oldest_pending_seconds: 61 }, "bad"],
  [{ ...jobs, failed: 1, oldest_pending_seconds: 61 }, "bad"],
])("[WC96] the queue %j is %s", (given, tone) => {
  expect(queueStatus(given).tone).toBe(tone);
});

test.each([
  [10, "good"],
  [80, "good"],
  [81, "warning"],
  [100, "bad"],
])("[WC96] a database with %i of 100 connections in use is %s", (connections, tone) => {
  const database = { version: "17", size_bytes: 1, connections, max_connections: 100, migration: "0018" };
  expect(databaseStatus(database).tone).toBe(tone);
});

test.each([
  [0, 0, "good"],
  [3, 3, "good"],
  [3, 0, "warning"],
])("[WC96] an installation with %i clusters and %i sessions is %s", (clusters, sessions, tone) => {
  expect(hubStatus({ clusters, hub: { sessions, pending: 0 } }).tone).toBe(tone);
});

test.each([
  [0, "0 B"],
  [1023, "1023 B"],
  [1024, "1 KiB"],
  [1536, "1.5 KiB"],
  [20 * 1024 ** 3, "20 GiB"],
  [5 * 1024 ** 5, "5120 TiB"],
])("[WC96] a size of %i bytes is shown as %s", (bytes, words) => {
  expect(sizeText(bytes)).toBe(words);
});
