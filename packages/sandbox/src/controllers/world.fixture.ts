import { createCore } from "../api/core.adapter.ts";
import { storeOf } from "../api/store-of.ts";
import type { SimulationSettings } from "../kubelet/settings.ts";
import type { KubeObject, ObjectDraft } from "../store/kube-object.ts";
import type { Store, StoreEvent } from "../store/store.ts";
import { type Controllers, startControllers } from "./controllers.adapter.ts";
import type { Pod } from "./pod.ts";
import { VirtualTime } from "./virtual-time.fixture.ts";

/** A cluster with its controllers, in time that a test turns. */
export class World {
  readonly time = new VirtualTime();
  readonly store: Store = storeOf(createCore({ clock: this.time }));
  readonly errors: string[] = [];
  #controllers: Controllers;
  readonly #settings: Partial<SimulationSettings>;

  constructor(settings: Partial<SimulationSettings> = {}) {
    this.#settings = settings;
    this.#controllers = this.#start();
  }

  get logs() {
    return this.#controllers.logs;
  }

  get usage() {
    return this.#controllers.usage;
  }

  #start(): Controllers {
    const { store, time } = this;
    return startControllers(store, time, {
      settings: this.#settings,
      rootCertificate: "simulated",
      onError: (controller, { name }, error) => this.errors.push(`${controller} ${name}: ${String(error)}`),
    });
  }

  /** As after the death of the process: only the store is left. */
  restart(): void {
    this.#controllers.stop();
    this.#controllers = this.#start();
  }

  stop(): void {
    this.#controllers.stop();
  }

  /** All that follows from what has happened, without a moment passing. */
  async settle(): Promise<void> {
    do await new Promise<void>((resolve) => setImmediate(resolve));
    while (!this.#controllers.isIdle);
  }

  /** Lets time pass, stopping at each moment that somebody waits for. */
  async pass(seconds: number, watch: () => void = () => undefined): Promise<void> {
    await this.settle();
    const untilMs = this.time.nowMs() + seconds * 1_000;
    for (let isRinging = true; isRinging; ) {
      isRinging = this.time.ringUntil(untilMs);
      await this.settle();
      watch();
    }
  }

  create(resource: string, object: ObjectDraft): KubeObject {
    return this.store.create(resource, object);
  }

  get<T extends KubeObject = KubeObject>(resource: string, name: string, namespace: string | null = "default"): T {
    const object = this.store.get(resource, name, namespace ?? undefined) as T | null;
    if (!object) throw new Error(`There is no ${resource} ${name}.`);
    return object;
  }

  list<T extends KubeObject = KubeObject>(resource: string, namespace?: string): readonly T[] {
    return this.store.list(resource, namespace === undefined ? {} : { namespace }) as readonly T[];
  }

  pods(namespace = "default"): readonly Pod[] {
    return this.list<Pod>("pods", namespace);
  }

  changes(): readonly StoreEvent[] {
    const seen: StoreEvent[] = [];
    this.store.watch("*", (event) => seen.push(event));
    return seen;
  }
}
