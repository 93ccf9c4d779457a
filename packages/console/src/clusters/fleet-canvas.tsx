import type { FleetCluster } from "@binnacle/client";
import { Paper, Skeleton, Text, useComputedColorScheme, VisuallyHidden } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import {
  type KeyboardEvent,
  type PointerEvent,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { clusterAddress } from "../components/addresses.ts";
import { useOrg } from "../frame/org.tsx";
import { drawMap, layoutOf, type MapColors, moveFocus, placeOf, tileAt, tileStatus, tileText } from "./fleet-map.ts";

/**
 * The fleet as tiles on a canvas. To a screen reader it is a list of which only the focused option exists, because thousands of
 * elements would make every page slow. Arrow keys move the focus, Enter opens the cluster.
 */
export function FleetMap({ clusters }: { readonly clusters: readonly FleetCluster[] }) {
  const org = useOrg();
  const navigate = useNavigate();
  const scheme = useComputedColorScheme("light");
  const { ref, width } = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [focused, setFocused] = useState(0);
  const [hasFocus, setHasFocus] = useState(false);
  const [hovered, setHovered] = useState<number | null>(null);
  const id = useId();
  const count = clusters.length;
  const layout = useMemo(() => layoutOf(count, width), [count, width]);
  const tiles = useMemo(() => clusters.map((each) => ({ tone: tileStatus(each).tone, name: each.name })), [clusters]);
  const active = Math.min(focused, Math.max(0, count - 1));

  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours come from the style sheet, which the scheme changes.
  useEffect(() => {
    const element = canvas.current;
    const pen = element?.getContext("2d");
    if (!element || !pen || width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    element.width = Math.round(width * ratio);
    element.height = Math.round(layout.height * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawMap(pen, tiles, layout, width, colorsOf(element));
  }, [tiles, layout, width, scheme]);

  const open = (index: number | null) => {
    const cluster = index === null ? undefined : clusters[index];
    if (cluster) void navigate({ to: clusterAddress(org.slug, cluster.id) });
  };
  const under = (event: PointerEvent<HTMLElement> | React.MouseEvent<HTMLElement>) => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    return tileAt(layout, count, event.clientX - left, event.clientY - top);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      return open(active);
    }
    const next = moveFocus(active, event.key, layout, count);
    if (next === null) return;
    event.preventDefault();
    setFocused(next);
  };

  const shown = hovered ?? (hasFocus ? active : null);
  const cluster = shown === null ? undefined : clusters[shown];
  const option = clusters[active];
  return (
    <div
      ref={ref}
      role="listbox"
      tabIndex={0}
      aria-label={`Map of ${count.toLocaleString()} clusters. Arrow keys move, Enter opens.`}
      aria-activedescendant={`${id}-${active}`}
      style={{ position: "relative", height: layout.height, cursor: hovered === null ? "default" : "pointer" }}
      onKeyDown={onKeyDown}
      onFocus={() => setHasFocus(true)}
      onBlur={() => setHasFocus(false)}
      onPointerMove={(event) => setHovered(under(event))}
      onPointerLeave={() => setHovered(null)}
      onClick={(event) => open(under(event))}
    >
      <canvas ref={canvas} aria-hidden style={{ width: "100%", height: layout.height, display: "block" }} />
      {option ? (
        <VisuallyHidden
          key={active}
          id={`${id}-${active}`}
          role="option"
          aria-selected
          aria-posinset={active + 1}
          aria-setsize={count}
        >
          {tileText(option)}
        </VisuallyHidden>
      ) : null}
      {shown === null || !cluster ? null : (
        <Pointed words={tileText(cluster)} {...boxOf(placeOf(layout, shown), layout)} isRight={width} />
      )}
    </div>
  );
}

/** As high as the map of so many clusters, while they are read. */
export function PendingMap({ count }: { readonly count: number }) {
  const { ref, width } = useWidth();
  return (
    <div ref={ref}>
      <Skeleton height={layoutOf(count, width).height} />
    </div>
  );
}

/** The width of an element. It is known before the first paint, because a map that is laid out for no width is endlessly high. */
function useWidth() {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const measure = () => setWidth(element.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly tileWidth: number;
  readonly tileHeight: number;
}

const boxOf = (
  place: { x: number; y: number },
  { tileWidth, tileHeight }: { tileWidth: number; tileHeight: number },
) => ({
  ...place,
  tileWidth,
  tileHeight,
});

/** The ring around a tile with its name beside it. It lies over the canvas, so that pointing at tiles draws nothing anew. */
function Pointed({ words, x, y, tileWidth, tileHeight, isRight }: Box & { words: string; isRight: number }) {
  const isAtRight = x > isRight / 2;
  return (
    <>
      <div
        aria-hidden
        style={{
          position: "absolute",
          left: x - 2,
          top: y - 2,
          width: tileWidth + 4,
          height: tileHeight + 4,
          border: "2px solid var(--mantine-color-text)",
          borderRadius: 4,
          pointerEvents: "none",
        }}
      />
      <Paper
        aria-hidden
        shadow="md"
        px="xs"
        py={4}
        style={{
          position: "absolute",
          top: y + tileHeight + 6,
          ...(isAtRight ? { right: isRight - x - tileWidth } : { left: x }),
          maxWidth: 320,
          pointerEvents: "none",
          zIndex: 3,
        }}
      >
        <Text size="xs" style={{ overflowWrap: "anywhere" }}>
          {words}
        </Text>
      </Paper>
    </>
  );
}

function colorsOf(element: HTMLElement): MapColors {
  const style = getComputedStyle(element);
  const variable = (name: string) => style.getPropertyValue(name).trim();
  return {
    tones: {
      good: variable("--tone-good"),
      progress: variable("--tone-progress"),
      warning: variable("--tone-warning"),
      bad: variable("--tone-bad"),
      unknown: variable("--tone-unknown"),
    },
    surface: variable("--mantine-color-body"),
    border: variable("--mantine-color-default-border"),
    text: variable("--mantine-color-text"),
    font: `13px ${style.fontFamily}`,
  };
}
