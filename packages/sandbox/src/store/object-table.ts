import type { Journal, KubeObject } from "./kube-object.ts";
import type { GroupResource, StoreEvent } from "./store.ts";

/** A change with the version that it made. */
export interface Change extends StoreEvent {
  readonly version: number;
}

export interface ObjectTableOptions {
  /** As many changes as are remembered for watches that come back. */
  readonly historyLength?: number;
  readonly journal?: Journal | undefined;
}

const HISTORY_LENGTH = 250;

/** Objects of all kinds, each change with a new version, and the latest changes. Knows nothing of what objects mean. */
export class ObjectTable {
  readonly #objects = new Map<GroupResource, Map<string, KubeObject>>();
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #historyLength: number;
  readonly #journal: Journal | undefined;
  #history: Change[] = [];
  #pending: Change[] = [];
  #version = 1;
  #oldest = 1;

  constructor({ historyLength = HISTORY_LENGTH, journal }: ObjectTableOptions = {}) {
    this.#historyLength = historyLength;
    this.#journal = journal;
    for (const { version, resource, key, object } of journal?.read() ?? []) {
      this.#version = Math.max(this.#version, version);
      if (object) this.#of(resource).set(key, object);
      else this.#of(resource).delete(key);
    }
    this.#oldest = this.#version;
  }

  get version(): number {
    return this.#version;
  }

  get(resource: GroupResource, name: string, namespace = ""): KubeObject | null {
    return this.#objects.get(resource)?.get(`${namespace}/${name}`) ?? null;
  }

  /** In the order of their namespaces and names. */
  list(resource: GroupResource, namespace?: string): KubeObject[] {
    const all = [...(this.#objects.get(resource) ?? [])];
    const prefix = `${namespace}/`;
    const chosen = namespace === undefined ? all : all.filter(([key]) => key.startsWith(prefix));
    return chosen.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  /** Stores the object under a new version, which it is given. */
  put(resource: GroupResource, object: KubeObject): KubeObject {
    const key = keyOf(object);
    const previous = this.#of(resource).get(key) ?? null;
    const stored = this.#versioned(object);
    this.#of(resource).set(key, stored);
    this.#record({ type: previous ? "MODIFIED" : "ADDED", resource, object: stored, previous, version: this.#version });
    return stored;
  }

  /** Removes the object. Its last state gets a new version too, so that watches notice. */
  remove(resource: GroupResource, object: KubeObject): KubeObject {
    const previous = this.#of(resource).get(keyOf(object)) ?? null;
    this.#of(resource).delete(keyOf(object));
    const last = this.#versioned(object);
    this.#record({ type: "DELETED", resource, object: last, previous, version: this.#version });
    return last;
  }

  /** Changes after a version; null when they are not remembered any more. */
  changesSince(version: number): readonly Change[] | null {
    if (version < this.#oldest) return null;
    return this.#history.slice(this.#firstAfter(version));
  }

  /** Tells of each change, after the call that made it and in order. Returns how to stop. */
  listen(listener: (change: Change) => void): () => void {
    // Changes that already wait for delivery came before.
    const since = this.#version;
    const notify = (change: Change) => {
      if (change.version > since) listener(change);
    };
    this.#listeners.add(notify);
    return () => this.#listeners.delete(notify);
  }

  /** Resolves when all changes are kept for the next start. */
  async settled(): Promise<void> {
    await this.#journal?.flush();
  }

  #versioned(object: KubeObject): KubeObject {
    this.#version += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
  }

  #record(change: Change): void {
    this.#history.push(change);
    if (this.#history.length > this.#historyLength * 2) {
      this.#history = this.#history.slice(-this.#historyLength);
      this.#oldest = (this.#history[0]?.version ?? this.#version) - 1;
    }
    const { version, resource, object, type } = change;
    this.#journal?.append({ version, resource, key: keyOf(object), object: type === "DELETED" ? null : object });
    if (this.#pending.push(change) === 1) queueMicrotask(() => this.#tell());
  }

  #tell(): void {
    const changes = this.#pending;
    this.#pending = [];
    for (const change of changes) for (const listener of [...this.#listeners]) listener(change);
  }

  #firstAfter(version: number): number {
    let [low, high] = [0, this.#history.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#history[middle]?.version ?? 0) > version) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #of(resource: GroupResource): Map<string, KubeObject> {
    const known = this.#objects.get(resource);
    if (known) return known;
    const made = new Map<string, KubeObject>();
    this.#objects.set(resource, made);
    return made;
  }
}

const keyOf = ({ metadata: { namespace = "", name } }: KubeObject): string => `${namespace}/${name}`;
