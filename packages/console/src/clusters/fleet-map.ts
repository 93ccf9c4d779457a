import type { FleetCluster } from "@binnacle/client";
import { CLUSTER_STATUS, type StatusView, type Tone } from "../status/status.ts";

/** A connected cluster is green only while it is heard of and all of its apps are well. */
export function tileStatus({ status, stale, failing, held_up }: Omit<FleetCluster, "id" | "name">): StatusView {
  const known = CLUSTER_STATUS[status] ?? { tone: "unknown", word: status };
  if (known.tone !== "good") return known;
  if (stale) return { tone: "warning", word: `${known.word}, not confirmed` };
  if (failing > 0) return { tone: "warning", word: `${known.word}, apps failing` };
  return held_up > 0 ? { tone: "warning", word: `${known.word}, apps held up` } : known;
}

/** What is said of a tile: by the tooltip, and by a screen reader when the tile gets the focus. */
export function tileText(cluster: FleetCluster): string {
  const apps = cluster.apps === 1 ? "1 app" : `${cluster.apps.toLocaleString("en")} apps`;
  const failing = cluster.failing > 0 ? `, ${cluster.failing.toLocaleString("en")} failing` : "";
  const heldUp = cluster.held_up > 0 ? `, ${cluster.held_up.toLocaleString("en")} held up` : "";
  return `${cluster.name}: ${tileStatus(cluster).word}, ${apps}${failing}${heldUp}`;
}

/** How many tiles have which status, the most urgent first. */
export function tally(
  clusters: readonly FleetCluster[],
): readonly (StatusView & { count: number; statuses: readonly string[] })[] {
  const groups = new Map<string, StatusView & { count: number; statuses: Set<string> }>();
  for (const cluster of clusters) {
    const view = tileStatus(cluster);
    const group = groups.get(view.word) ?? { ...view, count: 0, statuses: new Set<string>() };
    group.count += 1;
    group.statuses.add(cluster.status);
    groups.set(view.word, group);
  }
  return [...groups.values()]
    .sort((a, b) => URGENCY.indexOf(a.tone) - URGENCY.indexOf(b.tone) || b.count - a.count)
    .map((group) => ({ ...group, statuses: [...group.statuses] }));
}

const URGENCY: readonly Tone[] = ["bad", "warning", "progress", "unknown", "good"];

export interface MapLayout {
  readonly columns: number;
  readonly pitchX: number;
  readonly pitchY: number;
  readonly tileWidth: number;
  readonly tileHeight: number;
  readonly height: number;
  /** Few clusters have room for their names. */
  readonly isLabelled: boolean;
}

const LABEL = { width: 144, height: 30, gap: 6 } as const;
const TALLEST = 420;
const LARGEST_PITCH = 22;
const SMALLEST_PITCH = 8;

/** Places so many tiles in a width: as large as the height allows, and never too small to be pointed at. */
export function layoutOf(count: number, width: number): MapLayout {
  const labelColumns = Math.max(1, Math.floor((width + LABEL.gap) / (LABEL.width + LABEL.gap)));
  if (Math.ceil(count / labelColumns) * (LABEL.height + LABEL.gap) <= TALLEST) {
    const columns = labelColumns;
    const pitchX = (width + LABEL.gap) / columns;
    const pitchY = LABEL.height + LABEL.gap;
    const tileWidth = pitchX - LABEL.gap;
    const height = Math.ceil(count / columns) * pitchY;
    return { columns, pitchX, pitchY, tileWidth, tileHeight: LABEL.height, height, isLabelled: true };
  }
  let pitch = LARGEST_PITCH;
  const columnsAt = (size: number) => Math.max(1, Math.floor(width / size));
  while (pitch > SMALLEST_PITCH && Math.ceil(count / columnsAt(pitch)) * pitch > TALLEST) pitch -= 1;
  const columns = columnsAt(pitch);
  const tile = pitch - (pitch >= 14 ? 3 : pitch >= 10 ? 2 : 1);
  const height = Math.ceil(count / columns) * pitch;
  return { columns, pitchX: pitch, pitchY: pitch, tileWidth: tile, tileHeight: tile, height, isLabelled: false };
}

/** The tile at a point. The gap after a tile belongs to it, so that the pointer does not flicker between two. */
export function tileAt({ columns, pitchX, pitchY }: MapLayout, count: number, x: number, y: number): number | null {
  const column = Math.floor(x / pitchX);
  const row = Math.floor(y / pitchY);
  if (column < 0 || row < 0 || column >= columns) return null;
  const index = row * columns + column;
  return index < count ? index : null;
}

export const placeOf = ({ columns, pitchX, pitchY }: MapLayout, index: number): { x: number; y: number } => ({
  x: (index % columns) * pitchX,
  y: Math.floor(index / columns) * pitchY,
});

const ROWS_PER_PAGE = 10;

/** Where a key moves the focus; null for keys that do not move it. At an edge it stays where it is. */
export function moveFocus(index: number, key: string, { columns }: MapLayout, count: number): number | null {
  const by: Readonly<Record<string, number>> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -columns,
    ArrowDown: columns,
    PageUp: -columns * ROWS_PER_PAGE,
    PageDown: columns * ROWS_PER_PAGE,
  };
  if (key === "Home") return 0;
  if (key === "End") return Math.max(0, count - 1);
  const step = by[key];
  if (step === undefined) return null;
  const next = index + step;
  if (key === "PageUp") return Math.max(index % columns, next);
  if (key === "PageDown" && next >= count) return Math.max(index, lastInColumn(index % columns, columns, count));
  return next >= 0 && next < count ? next : index;
}

function lastInColumn(column: number, columns: number, count: number): number {
  const lastRow = Math.floor((count - 1 - column) / columns);
  return lastRow * columns + column;
}

/** The part of a canvas that the map is drawn with. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  "beginPath" | "rect" | "roundRect" | "moveTo" | "lineTo" | "fill" | "stroke" | "clearRect" | "fillText"
> & {
  globalAlpha: number;
  fillStyle: unknown;
  strokeStyle: unknown;
  lineWidth: number;
  font: string;
  textBaseline: string;
};

export interface MapColors {
  readonly tones: Readonly<Record<Tone, string>>;
  readonly surface: string;
  readonly border: string;
  readonly text: string;
  readonly font: string;
}

export interface MapTile {
  readonly tone: Tone;
  readonly name: string;
}

const SIGN_SIZE = 14;

/**
 * Draws all tiles. Each tone is one path that is filled once, because one fill for each of thousands of tiles would not be done within
 * a frame. Each tone has a sign of its own beside its colour: a cross, a cut corner, a small or a large hole, or none.
 */
export function drawMap(
  pen: Pen,
  tiles: readonly MapTile[],
  layout: MapLayout,
  width: number,
  colors: MapColors,
): void {
  pen.clearRect(0, 0, width, layout.height);
  const { isLabelled, tileWidth, tileHeight } = layout;
  const square = isLabelled ? SIGN_SIZE : tileWidth;
  const inset = isLabelled ? (tileHeight - SIGN_SIZE) / 2 : 0;
  for (const tone of URGENCY) {
    const places = tiles.flatMap((tile, index) => (tile.tone === tone ? [placeOf(layout, index)] : []));
    if (places.length === 0) continue;
    pen.fillStyle = colors.tones[tone];
    pen.beginPath();
    for (const { x, y } of places) pen.rect(x + inset, y + inset, square, square);
    // Thousands of tiles in full green, or the outlines of those that wait, would hide the few that need a look.
    pen.globalAlpha = tone === "good" && !isLabelled ? 0.5 : tone === "unknown" ? 0.65 : 1;
    pen.fill();
    pen.globalAlpha = 1;
    drawSigns(pen, tone, places, square, inset, colors.surface);
  }
  if (!isLabelled) return;
  pen.strokeStyle = colors.border;
  pen.lineWidth = 1;
  pen.beginPath();
  for (const index of tiles.keys()) {
    const { x, y } = placeOf(layout, index);
    pen.roundRect(x + 0.5, y + 0.5, tileWidth - 1, tileHeight - 1, 5);
  }
  pen.stroke();
  pen.fillStyle = colors.text;
  pen.font = colors.font;
  pen.textBaseline = "middle";
  const fits = Math.floor((tileWidth - inset * 2 - SIGN_SIZE - 12) / 7);
  for (const [index, { name }] of tiles.entries()) {
    const { x, y } = placeOf(layout, index);
    const text = name.length > fits ? `${name.slice(0, Math.max(1, fits - 1))}…` : name;
    pen.fillText(text, x + inset * 2 + SIGN_SIZE, y + tileHeight / 2 + 1);
  }
}

function drawSigns(
  pen: Pen,
  tone: Tone,
  places: readonly { readonly x: number; readonly y: number }[],
  size: number,
  inset: number,
  surface: string,
): void {
  if (tone === "good") return;
  const hole = tone === "unknown" ? 0.72 : 0.3;
  pen.fillStyle = surface;
  pen.strokeStyle = surface;
  pen.lineWidth = Math.max(1, size / 7);
  pen.beginPath();
  for (const place of places) {
    const x = place.x + inset;
    const y = place.y + inset;
    if (tone === "bad") {
      pen.moveTo(x + size * 0.25, y + size * 0.25);
      pen.lineTo(x + size * 0.75, y + size * 0.75);
      pen.moveTo(x + size * 0.75, y + size * 0.25);
      pen.lineTo(x + size * 0.25, y + size * 0.75);
    } else if (tone === "warning") {
      pen.moveTo(x + size * 0.45, y);
      pen.lineTo(x + size, y);
      // The fill closes the triangle. Closing it here would take the browser longer with each tile before it: 0.3 s for 5,000.
      pen.lineTo(x + size, y + size * 0.55);
    } else {
      pen.rect(x + (size * (1 - hole)) / 2, y + (size * (1 - hole)) / 2, size * hole, size * hole);
    }
  }
  if (tone === "bad") pen.stroke();
  else pen.fill();
}
