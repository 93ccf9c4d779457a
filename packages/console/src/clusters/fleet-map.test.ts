import type { FleetCluster } from "@binnacle/client";
import { expect, test } from "vitest";
import {
  drawMap,
  layoutOf,
  type MapTile,
  moveFocus,
  type Pen,
  placeOf,
  tally,
  tileAt,
  tileStatus,
  tileText,
} from "./fleet-map.ts";

const cluster: FleetCluster = {
  id: "1",
  name: "edge-01",
  status: "connected",
  stale: false,
  apps: 3,
  failing: 0,
  held_up: 0,
};

test.each([
  [{}, "good", "edge-01: Connected, 3 apps"],
  [{ apps: 1 }, "good", "edge-01: Connected, 1 app"],
  [{ held_up: 1 }, "warning", "edge-01: Connected, apps held up, 3 apps, 1 held up"],
  [{ failing: 2 }, "warning", "edge-01: Connected, apps failing, 3 apps, 2 failing"],
  [{ stale: true }, "warning", "edge-01: Connected, not confirmed, 3 apps"],
  [{ status: "disconnected", stale: true }, "warning", "edge-01: Disconnected, 3 apps"],
  [{ status: "install_failed" }, "bad", "edge-01: Install failed, 3 apps"],
  [{ status: "pending", apps: 0 }, "unknown", "edge-01: Pending, 0 apps"],
] as const)(
  "[WC61] a tile is green only for a cluster that is connected and whose apps are well: %#",
  (change, tone, words) => {
    const given = { ...cluster, ...change };
    expect(tileStatus(given).tone).toBe(tone);
    expect(tileText(given)).toBe(words);
  },
);

test("[WC61] the legend of the fleet map counts the tiles by status, the most urgent first", () => {
  const fleet = [
    cluster,
    cluster,
    { ...cluster, failing: 1 },
    { ...cluster, status: "error" as const },
    { ...cluster, status: "installing" as const },
  ];
  expect(tally(fleet).map(({ word, count, statuses }) => [word, count, statuses])).toEqual([
    ["Error", 1, ["error"]],
    ["Connected, apps failing", 1, ["connected"]],
    ["Installing", 1, ["installing"]],
    ["Connected", 2, ["connected"]],
  ]);
});

const COUNTS = [1, 2, 60, 61, 500, 5_000];
const WIDTHS = [200, 360, 999, 1_300, 3_000];
const maps = COUNTS.flatMap((count) => WIDTHS.map((width) => [count, width] as const));

test.each(maps)(
  "[WC62] each of %i tiles in a width of %i is found at its middle, and none lies outside",
  (count, width) => {
    const layout = layoutOf(count, width);
    const wrong = Array.from({ length: count }, (_, index) => index).filter((index) => {
      const { x, y } = placeOf(layout, index);
      const found = tileAt(layout, count, x + layout.tileWidth / 2, y + layout.tileHeight / 2);
      return found !== index || x + layout.tileWidth > width + 0.001 || y + layout.tileHeight > layout.height + 0.001;
    });
    expect(wrong).toEqual([]);
  },
);

test("[WC62] 5,000 clusters fit on a screen, and a tile stays large enough to be pointed at", () => {
  const layout = layoutOf(5_000, 1_300);
  expect(layout.height).toBeLessThanOrEqual(420);
  expect(layout.pitchX).toBeGreaterThanOrEqual(8);
  expect(layoutOf(12, 1_300).isLabelled).toBe(true);
});

test("[WC62] a point beside the tiles of the map is on no tile", () => {
  const layout = layoutOf(100, 400);
  expect(tileAt(layout, 100, -1, 5)).toBeNull();
  expect(tileAt(layout, 100, layout.columns * layout.pitchX + 1, 5)).toBeNull();
  expect(tileAt(layout, 100, 5, layout.height + 50)).toBeNull();
});

const grid = { ...layoutOf(100, 220), columns: 10 };

test.each([
  [0, "ArrowRight", 1],
  [0, "ArrowLeft", 0],
  [0, "ArrowUp", 0],
  [0, "ArrowDown", 10],
  [99, "ArrowDown", 99],
  [99, "ArrowRight", 99],
  [45, "Home", 0],
  [45, "End", 99],
  [45, "PageUp", 5],
  [45, "PageDown", 95],
  [45, "Tab", null],
  [45, "a", null],
] as const)("[WC62] from tile %i of the map, the key %s leads to %s", (index, key, next) => {
  expect(moveFocus(index, key, grid, 100)).toBe(next);
});

const KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End"];

test.each(maps)("[WC62] the keys of the map never lead out of a map of %i tiles in a width of %i", (count, width) => {
  const layout = layoutOf(count, width);
  const wrong = Array.from({ length: count }, (_, index) => index).filter((index) =>
    KEYS.some((key) => {
      const next = moveFocus(index, key, layout, count);
      return next === null || next < 0 || next >= count;
    }),
  );
  expect(wrong).toEqual([]);
});

test("[WC63] the whole fleet is drawn with a fixed number of fills, however many tiles there are", () => {
  const calls: string[] = [];
  const pen = new Proxy({} as Pen, {
    get: (_, name) => (name === "lineWidth" ? 1 : () => void calls.push(String(name))),
    set: () => true,
  });
  const tones = ["good", "progress", "warning", "bad", "unknown"] as const;
  const tiles: MapTile[] = Array.from({ length: 5_000 }, (_, index) => ({
    tone: tones[index % tones.length] ?? "good",
    name: `edge-${index}`,
  }));
  const colors = {
    tones: { good: "#0", progress: "#0", warning: "#0", bad: "#0", unknown: "#0" },
    surface: "#f",
    border: "#8",
    text: "#0",
    font: "13px sans",
  };
  drawMap(pen, tiles, layoutOf(5_000, 1_300), 1_300, colors);
  expect(calls.filter((name) => name === "fill" || name === "stroke").length).toBe(9);
  expect(calls).not.toContain("fillText");
  // The time that closing a part of a path takes grows with the parts before it.
  expect(calls).not.toContain("closePath");
});
