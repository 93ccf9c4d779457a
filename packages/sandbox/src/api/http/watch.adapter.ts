import type { KubeObject } from "../../store/kube-object.ts";
import type { Change } from "../../store/object-table.ts";
import { fieldMatcher, labelMatcher, type Matcher } from "../../store/selectors.ts";
import { gone } from "../fault.ts";
import type { Core } from "../ports.ts";
import type { Resource } from "../resource.ts";
import { listed } from "../store-of.ts";
import { type ApiRequest, type ApiResponse, type Sink, statusOf, streaming } from "./message.ts";
import { METADATA_KIND, metadataAsked } from "./metadata.ts";
import { isTrue, selectionIn, versionIn } from "./options.ts";

const BOOKMARK_MS = 50_000;
const LONGEST_SECONDS = 3_600;

type Shown = (object: KubeObject) => unknown;

/** Follows the objects of a kind: what there is, or what has changed since a version, and then each change. */
export function watched(
  core: Core,
  resource: Resource,
  namespace: string | undefined,
  request: ApiRequest,
  shown: Shown,
): ApiResponse {
  const { query } = request;
  const selection = selectionIn(request, namespace);
  const matches = matcherOf(resource, namespace, selection.labelSelector, selection.fieldSelector);
  const version = versionIn(query);
  const isWholeAsked = isTrue(query.get("sendInitialEvents"));
  const hasBookmarks = isTrue(query.get("allowWatchBookmarks"));
  const seconds = Number(query.get("timeoutSeconds") ?? LONGEST_SECONDS) || LONGEST_SECONDS;
  const line = (type: string, object: KubeObject) => `${JSON.stringify({ type, object: shown(object) })}\n`;

  const marked = (isEndOfWhole: boolean) =>
    bookmark(core, metadataAsked(request.headers["accept"]) ? METADATA_KIND : resource, isEndOfWhole);

  function tell(sink: Sink, change: Change): void {
    const type = typeFor(change, resource, matches);
    if (type) sink.write(line(type, change.object));
  }

  function begin(sink: Sink): boolean {
    if (version === 0 || isWholeAsked) {
      if (query.get("sendInitialEvents") !== "false") {
        for (const object of listed(core, resource, selection)) sink.write(line("ADDED", object));
      }
      if (isWholeAsked) sink.write(marked(true));
      return true;
    }
    const missed = core.table.changesSince(version);
    if (!missed) {
      const fault = gone(`too old resource version: ${version} (${core.table.version})`);
      sink.write(`${JSON.stringify({ type: "ERROR", object: statusOf(fault) })}\n`);
      return false;
    }
    for (const change of missed) tell(sink, change);
    return true;
  }

  return streaming((sink) => {
    if (!begin(sink)) {
      sink.end();
      return () => undefined;
    }
    const stopListening = core.table.listen((change) => tell(sink, change));
    const mark = () => sink.write(marked(false));
    const bookmarks = hasBookmarks ? setInterval(mark, BOOKMARK_MS).unref() : undefined;
    const ending = setTimeout(() => {
      stop();
      sink.end();
    }, seconds * 1000).unref();
    const stop = () => {
      stopListening();
      clearInterval(bookmarks);
      clearTimeout(ending);
    };
    return stop;
  });
}

function bookmark(
  { table }: Core,
  { kind, apiVersion }: Pick<Resource, "kind" | "apiVersion">,
  isEndOfWhole: boolean,
): string {
  const annotations = isEndOfWhole ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
  const metadata = { resourceVersion: String(table.version), creationTimestamp: null, ...annotations };
  return `${JSON.stringify({ type: "BOOKMARK", object: { kind, apiVersion, metadata } })}\n`;
}

function matcherOf(resource: Resource, namespace: string | undefined, labels?: string, fields?: string): Matcher {
  const byLabel = labels ? labelMatcher(labels) : null;
  const byField = fields
    ? fieldMatcher(fields, resource.id, resource.namespaced, resource.custom?.selectableFields)
    : null;
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    (byLabel?.(object) ?? true) &&
    (byField?.(object) ?? true);
}

/** An object that comes into a selection is added to it, one that leaves it is deleted from it. */
function typeFor({ resource: id, type, object, previous }: Change, resource: Resource, matches: Matcher) {
  if (id !== resource.id) return null;
  const [was, is] = [previous !== null && matches(previous), type !== "DELETED" && matches(object)];
  if (was && is) return "MODIFIED";
  if (is) return "ADDED";
  return was ? "DELETED" : null;
}
