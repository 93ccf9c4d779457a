import { readdir, readFile } from "node:fs/promises";
import { parse } from "yaml";
import { createDesiredStore } from "../packages/operator/src/desired/desired.store.ts";
import { type Apply, applyApp, applyProject } from "../packages/operator/src/desired/frames.fixture.ts";
import { KINDS } from "../packages/operator/src/kinds.ts";
import type { KubeClient, KubeObject } from "../packages/operator/src/kube/kube-client.ts";
import { realClock } from "../packages/operator/src/kube/real-clock.adapter.ts";
import { APPS } from "../packages/operator/src/kube/resource-types.ts";
import { namespaceOf, type Project } from "../packages/operator/src/project/project.ts";
import { ALL_RIGHTS } from "../packages/operator/src/project/project-rights.store.ts";

export interface WorldSize {
  readonly namespaces: number;
  readonly pods: number;
  readonly apps: number;
  readonly broken: number;
  readonly nodes: number;
}

const DEFINITIONS = new URL("../deploy/charts/binnacle-operator/files/crds/", import.meta.url);
const AT_ONCE = 24;

/** Fills a cluster with what an operator finds there: projects and apps as the hub has sent them, and pods of others. */
export async function fillCluster(kube: KubeClient, clusterId: string, size: WorldSize): Promise<void> {
  for (const file of await readdir(DEFINITIONS)) {
    await kube.apply(parse(await readFile(new URL(file, DEFINITIONS), "utf8")) as KubeObject, { force: true });
  }
  await untilSucceeds(() => kube.list(APPS));
  const sink = { report: () => undefined };
  const ports = { kube, kinds: KINDS, clusterId, namespace: "default", projectRights: ALL_RIGHTS };
  const store = createDesiredStore({ ...ports, sink, clock: realClock });
  const keep = async (frame: Apply) => {
    const refusal = await store.apply(frame);
    if (refusal) throw new Error(`${frame.key}: ${refusal.message}`);
  };
  const namespaces = Array.from({ length: size.namespaces }, (_, at) => `team-${at}`);
  await each(namespaces, async (namespace) => {
    const frame = applyProject(namespace);
    await keep(frame);
    const { key, resource_id, generation, hash, body } = frame;
    const project = { key, resource_id, generation, hash, ...body, kind: "project", isDeleting: false } as Project;
    await kube.create(namespaceOf(project, { clusterId, podSecurityLimit: "privileged" }));
  });
  const placeOf = (at: number) => namespaces[at % namespaces.length] ?? "";
  await each(numbers(size.apps + size.broken), (at) => {
    const image = at < size.apps ? "nginx:1.29" : "does-not-exist:1";
    return keep(applyApp({ namespace: placeOf(at), name: `app-${at}`, image }));
  });
  await each(numbers(size.pods), (at) => kube.create(foreignPod(placeOf(at), at, size.nodes)));
}

const numbers = (length: number): number[] => Array.from({ length }, (_, at) => at);

/** About 7 KB, as pods with a sidecar and a list of variables are. */
function foreignPod(namespace: string, at: number, nodes: number): KubeObject {
  const env = numbers(40).map((number) => ({
    name: `SETTING_${number}`,
    value: `a value of the setting ${number} of pod ${at}`,
  }));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `other-${at}`, namespace, labels: { "app.kubernetes.io/name": "other" } },
    spec: {
      nodeName: `node-${at % nodes}`,
      automountServiceAccountToken: false,
      containers: [
        { name: "main", image: "nginx:1.29", env },
        { name: "proxy", image: "proxy:1", env },
      ],
    },
  };
}

async function each<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  const rest = all.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const one of rest) await work(one);
    }),
  );
}

/** A kind is served a moment after its definition. */
async function untilSucceeds(ask: () => Promise<unknown>): Promise<void> {
  for (let left = 100; ; left -= 1) {
    try {
      await ask();
      return;
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
