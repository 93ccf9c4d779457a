import { canonicalJson, safeText } from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";
import { conditionOf, type Fields, fieldsIn, listIn, specOf, statusOf, textIn } from "../kube/object-fields.ts";
import type { BuildEvent } from "../link/ports.ts";

type Source = BuildEvent["source"];

const LONGEST_REASON = 200;

/** The event that describes a build. */
export function buildEventOf(source: Source, object: KubeObject): BuildEvent {
  const { name, namespace = "" } = object.metadata;
  const condition = conditionOf(object, "Succeeded");
  const { isBegun, startedAt, finishedAt, image } = FACTS[source](object);
  const state = stateOf(condition?.status ?? "Unknown", isBegun);
  const isOver = state === "succeeded" || state === "failed";
  return {
    namespace,
    name,
    source,
    state,
    reason: shown(condition?.reason)?.slice(0, LONGEST_REASON) ?? null,
    message: shown(condition?.message),
    image: shown(image),
    started_at: timeIn(startedAt),
    finished_at: isOver ? timeIn(finishedAt) : null,
  };
}

function stateOf(succeeded: string, isBegun: boolean): BuildEvent["state"] {
  if (succeeded === "True") return "succeeded";
  if (succeeded === "False") return "failed";
  return isBegun ? "running" : "pending";
}

interface BuildFacts {
  readonly isBegun: boolean;
  readonly startedAt: unknown;
  readonly finishedAt: unknown;
  readonly image: string;
}

const FACTS: Readonly<Record<Source, (object: KubeObject) => BuildFacts>> = {
  shipwright(object) {
    const { startTime, completionTime, buildSpec, output } = statusOf(object);
    const wanted = [specOf(object), fieldsIn(buildSpec)].map((spec) => textIn(fieldsIn(spec["output"])["image"]));
    const digest = textIn(fieldsIn(output)["digest"]);
    const image = wanted.find(Boolean) ?? "";
    return {
      isBegun: Boolean(startTime) && conditionOf(object, "Succeeded")?.reason !== "Pending",
      startedAt: startTime,
      finishedAt: completionTime ?? transitionOf(object),
      image: image && digest ? `${image}@${digest}` : image,
    };
  },
  kpack(object) {
    const { latestImage, podName } = statusOf(object);
    const { tags } = specOf(object);
    return {
      isBegun: Boolean(podName),
      startedAt: podName ? object.metadata.creationTimestamp : undefined,
      finishedAt: transitionOf(object),
      image: textIn(latestImage) || textIn(Array.isArray(tags) ? tags[0] : undefined),
    };
  },
};

/** The time of the last change. */
function changedAtMs(source: Source, object: KubeObject): number {
  const { startedAt, finishedAt } = FACTS[source](object);
  const times = [object.metadata.creationTimestamp, startedAt, finishedAt, transitionOf(object)];
  return Math.max(...times.map((time) => Date.parse(textIn(time))).filter((ms) => !Number.isNaN(ms)), 0);
}

const succeededIn = (object: KubeObject): Fields =>
  listIn(statusOf(object)["conditions"]).find(({ type }) => type === "Succeeded") ?? {};

const transitionOf = (object: KubeObject): unknown => succeededIn(object)["lastTransitionTime"];

const shown = (text: string | undefined): string | null => (text ? safeText(text) : null);

function timeIn(value: unknown): string | null {
  const ms = Date.parse(textIn(value));
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

/** Keeps the fields that are read; sources, steps and environments are large. */
export function slimBuild(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const { output, tags } = specOf(object);
  const { startTime, completionTime, buildSpec, output: result, latestImage, podName } = statusOf(object);
  const identity = { name, namespace, uid, resourceVersion, creationTimestamp };
  return {
    apiVersion,
    kind,
    metadata: Object.fromEntries(Object.entries(identity).filter(([, value]) => value !== undefined)) as never,
    spec: { output, tags },
    status: {
      conditions: [succeededIn(object)],
      startTime,
      completionTime,
      buildSpec: { output: fieldsIn(buildSpec)["output"] },
      output: { digest: fieldsIn(result)["digest"] },
      latestImage,
      podName,
    },
  };
}

/** Changes shortly before the start may not have been sent. */
const RECENT_MS = 300_000;

/** Returns each change of a build once, and nothing of builds that ended long before the start. */
export interface BuildFilter {
  /** Null where nothing has changed. */
  changed(source: BuildEvent["source"], object: KubeObject): BuildEvent | null;
  gone(source: BuildEvent["source"], key: string): void;
}

export function createBuildFilter(startedAtMs: number): BuildFilter {
  const sent = new Map<string, string>();
  return {
    changed(source, object) {
      const events = buildEventOf(source, object);
      const key = `${source}/${events.namespace}/${events.name}`;
      const sign = canonicalJson([object.metadata.uid, events]);
      const before = sent.get(key);
      sent.set(key, sign);
      if (before === sign) return null;
      const isOld = before === undefined && changedAtMs(source, object) < startedAtMs - RECENT_MS;
      return isOld ? null : events;
    },
    gone(source, key) {
      sent.delete(`${source}/${key}`);
    },
  };
}
