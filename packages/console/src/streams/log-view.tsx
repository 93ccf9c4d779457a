import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, type Ref, useCallback, useEffect, useImperativeHandle, useRef, useSyncExternalStore } from "react";
import { type Entry, isGap, type LogBuffer } from "./log-lines.ts";
import classes from "./logs-tab.module.css";

const LINE_HEIGHT = 20;
/** Lines beyond each edge of the view, so that there is something to see while scrolling. */
const LINES_BEYOND = 10;
/** A view this near to its end follows the output. */
const NEAR_END_PX = 40;

/** Draws its caller again when the buffer has changed. */
export const useVersion = (buffer: LogBuffer): number => useSyncExternalStore(buffer.subscribe, () => buffer.version);

export interface LinesHandle {
  scrollTo(index: number): void;
}

interface DisplayOptions {
  readonly isWrapped: boolean;
  readonly isUtc: boolean;
  readonly showsPods: boolean;
}

/** The lines of a buffer, of which those in view are drawn. New lines draw this anew, and nothing around it. */
export function LogLines(props: {
  readonly buffer: LogBuffer;
  readonly label: string;
  /** Said where there is no line to show. */
  readonly empty: (buffer: LogBuffer) => string | null;
  readonly display: DisplayOptions;
  readonly isFollowing: boolean;
  readonly onFollowing: (isFollowing: boolean) => void;
  readonly ref?: Ref<LinesHandle>;
  /** Takes less of the window where other things stand beside it. */
  readonly isShort?: boolean;
}) {
  const { buffer, isFollowing, onFollowing } = props;
  const { isWrapped, isUtc, showsPods } = props.display;
  const version = useVersion(buffer);
  const entries = buffer.shown;
  const view = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => view.current,
    estimateSize: lineHeight,
    overscan: LINES_BEYOND,
    getItemKey: useCallback((index: number) => entries[index]?.number ?? index, [entries]),
  });
  useImperativeHandle(props.ref, () => ({ scrollTo: (index) => virtual.scrollToIndex(index, { align: "start" }) }), [
    virtual,
  ]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines move the view while it follows.
  useEffect(() => {
    if (isFollowing && entries.length > 0) virtual.scrollToIndex(entries.length - 1, { align: "end" });
  }, [version, isFollowing]);

  function onScroll(): void {
    const element = view.current;
    if (element) onFollowing(element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX);
  }

  return (
    <div
      ref={view}
      className={classes.view}
      data-short={props.isShort || undefined}
      onScroll={onScroll}
      role="log"
      aria-live="off"
      aria-label={props.label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reachable by the keyboard.
      tabIndex={0}
    >
      {entries.length === 0 ? <p className={classes.empty}>{props.empty(buffer)}</p> : null}
      <div className={classes.inner} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const entry = entries[index];
          return entry === undefined ? null : (
            <LogRow
              key={key}
              entry={entry}
              index={index}
              start={start}
              isWrapped={isWrapped}
              isUtc={isUtc}
              showsPods={showsPods}
              measure={isWrapped ? virtual.measureElement : undefined}
            />
          );
        })}
      </div>
    </div>
  );
}

const lineHeight = () => LINE_HEIGHT;

interface RowProps extends DisplayOptions {
  readonly entry: Entry;
  readonly index: number;
  readonly start: number;
  readonly measure: ((element: HTMLElement | null) => void) | undefined;
}

const LogRow = memo(({ entry, index, start, isWrapped, isUtc, showsPods, measure }: RowProps) => {
  const style = { transform: `translateY(${start}px)` };
  if (isGap(entry)) {
    return (
      <div className={`${classes.line} ${classes.gap}`} style={style} ref={measure} data-index={index}>
        {entry.dropped ?? "Some"} lines dropped: they came faster than they could be read
      </div>
    );
  }
  return (
    <div
      className={classes.line}
      style={style}
      ref={measure}
      data-index={index}
      data-wrap={isWrapped || undefined}
      data-level={entry.level ?? undefined}
    >
      <span className={classes.meta}>{timeText(entry.time, isUtc)}</span>
      {showsPods ? <span className={classes.meta}>{entry.pod}</span> : null}
      <span className={classes.text}>{entry.text}</span>
    </div>
  );
});

function timeText(time: string, isUtc: boolean): string {
  if (isUtc) return time.slice(11, 23);
  const at = new Date(time);
  const two = (value: number, length = 2) => String(value).padStart(length, "0");
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${two(at.getMilliseconds(), 3)}`;
}
