import { canonicalJson } from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";
import type { BuildNews } from "../link/news-sink.ts";
import { buildNewsOf, changedAtMs } from "./builds.ts";

/** What happened shortly before the start may not have been told. */
const RECENT_MS = 300_000;

/** Finds what is new of builds: each change once, and nothing of what was over long before the start. */
export interface BuildTeller {
  /** Null where there is nothing to tell. */
  saw(source: BuildNews["source"], object: KubeObject): BuildNews | null;
  gone(source: BuildNews["source"], key: string): void;
}

export function createBuildTeller(startedAtMs: number): BuildTeller {
  const told = new Map<string, string>();
  return {
    saw(source, object) {
      const news = buildNewsOf(source, object);
      const key = `${source}/${news.namespace}/${news.name}`;
      const sign = canonicalJson([object.metadata.uid, news]);
      const before = told.get(key);
      told.set(key, sign);
      if (before === sign) return null;
      const isOld = before === undefined && changedAtMs(source, object) < startedAtMs - RECENT_MS;
      return isOld ? null : news;
    },
    gone(source, key) {
      told.delete(`${source}/${key}`);
    },
  };
}
