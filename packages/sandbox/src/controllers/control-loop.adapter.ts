import type { Store, StoreEvent } from "../store/store.ts";
import type { Controller, Place } from "./control.ts";
import type { EventRecorder } from "./event-recorder.store.ts";
import { type Time, TimerQueue } from "./timer-queue.ts";
import type { StoreView } from "./view.store.ts";
import { carryOut } from "./writer.store.ts";

/** Then the others in the process have their turn. */
const STEPS_AT_ONCE = 100;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 300_000;

interface Work {
  readonly controller: Controller;
  readonly place: Place;
}

export interface LoopPorts {
  readonly store: Store;
  readonly view: StoreView;
  readonly recorder: EventRecorder;
  readonly time: Time;
  /** Hears of steps that failed and are tried again. */
  readonly onError?: (controller: string, place: Place, error: unknown) => void;
}

/**
 * Runs all controllers of one cluster. Work comes from changes in the store and from times that steps ask for; without
 * either nothing happens at all.
 */
export class ControlLoop {
  readonly #ports: LoopPorts;
  readonly #controllers: readonly Controller[];
  readonly #queue = new Map<string, Work>();
  readonly #timers: TimerQueue;
  /** Work that is due later, by key. */
  readonly #later = new Map<string, Work>();
  readonly #failures = new Map<string, number>();
  #unwatch: (() => void) | null = null;
  #turn: NodeJS.Immediate | null = null;

  constructor(controllers: readonly Controller[], ports: LoopPorts) {
    this.#controllers = controllers;
    this.#ports = ports;
    this.#timers = new TimerQueue(ports.time, (key) => {
      const work = this.#later.get(key);
      this.#later.delete(key);
      if (work) this.#add(key, work);
    });
  }

  /** Looks at everything once, as after a restart nobody knows what was left undone. */
  start(first: readonly { readonly controller: string; readonly place: Place }[] = []): void {
    const { store } = this.#ports;
    this.#unwatch = store.watch("*", (change) => this.#notice(change));
    for (const { controller: name, place } of first) {
      const controller = this.#controllers.find((one) => one.name === name);
      if (controller) this.#add(keyOf(controller, place), { controller, place });
    }
    const stored = store
      .resources()
      .flatMap(({ resource }) => store.list(resource).map((object) => ({ resource, object })));
    for (const { resource, object } of stored) this.#ports.view.note(resource, object);
    for (const { resource, object } of stored) this.#notice({ type: "ADDED", resource, object, previous: null });
  }

  stop(): void {
    this.#unwatch?.();
    this.#unwatch = null;
    this.#timers.stop();
    if (this.#turn) clearImmediate(this.#turn);
    this.#turn = null;
    this.#queue.clear();
    this.#later.clear();
  }

  /** Whether nothing is to be done before the next timer or change. */
  get isIdle(): boolean {
    return this.#queue.size === 0;
  }

  #notice(change: StoreEvent): void {
    const { view, recorder, time } = this.#ports;
    if (change.resource === "events" && change.type === "ADDED") recorder.noted(change.object, time.nowMs());
    if (change.type === "DELETED") view.forget(change.resource, change.object);
    else view.note(change.resource, change.object);
    for (const controller of this.#controllers) {
      for (const place of controller.concerns(change, view)) this.#add(keyOf(controller, place), { controller, place });
    }
  }

  #add(key: string, work: Work): void {
    this.#queue.set(key, work);
    this.#turn ??= setImmediate(() => this.#run());
  }

  #run(): void {
    this.#turn = null;
    let steps = 0;
    for (const [key, work] of this.#queue) {
      if (steps++ === STEPS_AT_ONCE) break;
      this.#queue.delete(key);
      this.#step(key, work);
    }
    if (this.#queue.size > 0) this.#turn ??= setImmediate(() => this.#run());
  }

  #step(key: string, work: Work): void {
    const { view, time, onError } = this.#ports;
    const { controller, place } = work;
    const nowMs = time.nowMs();
    try {
      const { writes, wakeAtMs } = controller.step(place, view, nowMs);
      carryOut(writes, this.#ports, nowMs);
      this.#failures.delete(key);
      this.#wake(key, work, wakeAtMs);
    } catch (error) {
      const failures = this.#failures.get(key) ?? 0;
      this.#failures.set(key, failures + 1);
      this.#wake(key, work, nowMs + Math.min(FIRST_RETRY_MS * 2 ** failures, LONGEST_RETRY_MS));
      onError?.(controller.name, place, error);
    }
  }

  #wake(key: string, work: Work, atMs: number | null): void {
    if (atMs === null) this.#later.delete(key);
    else this.#later.set(key, work);
    this.#timers.set(key, atMs);
  }
}

const keyOf = ({ name: controller }: Controller, { resource, namespace = "", name }: Place): string =>
  `${controller} ${resource} ${namespace}/${name}`;
