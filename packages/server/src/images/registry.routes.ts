import type { Socket } from "node:net";
import { finished } from "node:stream/promises";
import { fairQueue, QueueFull } from "@binnacle/process";
import serveFiles from "@fastify/static";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { FOR_ANY_HOST } from "../http/addressed-host.ts";
import { blobFile, type Descriptor, type ImageStore, INDEX_TYPE, type Repository } from "./image-store.adapter.ts";
import { isDigest, pageOfTags, type RegistryRequest, registryRequest } from "./registry-request.ts";

/** Downloads under way, of all and of one client address; further ones wait, and those beyond are a 429. */
const DOWNLOADS_AT_ONCE = 128;
const DOWNLOADS_OF_ONE_CLIENT = 32;
const WAITING_OF_ONE_CLIENT = 64;

/** A client that reads nothing for this long loses its connection, because it holds the place of another. */
const STALLED_AFTER_MS = 60_000;

/** A buffer, because Fastify would add a charset to the type of a text. */
const NO_REFERRERS = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: INDEX_TYPE, manifests: [] }));

/** The errors of the distribution specification that a registry without writes has. */
const REFUSALS = {
  NAME_UNKNOWN: 404,
  MANIFEST_UNKNOWN: 404,
  BLOB_UNKNOWN: 404,
  UNSUPPORTED: 405,
  TOOMANYREQUESTS: 429,
} as const;

/**
 * Serves the release's own images and charts as a read-only OCI registry. It is public, because it has nothing that is not in the
 * release. Nodes reach it under whatever name their cluster knows.
 */
export async function registerImages(
  app: FastifyInstance,
  store: ImageStore,
  stalledAfterMs = STALLED_AFTER_MS,
): Promise<void> {
  const downloads = fairQueue({
    atOnce: DOWNLOADS_AT_ONCE,
    atOncePerCaller: DOWNLOADS_OF_ONE_CLIENT,
    waitingPerCaller: WAITING_OF_ONE_CLIENT,
  });
  await app.register(async (scope) => {
    await scope.register(serveFiles, { root: "/", serve: false });
    scope.addHook("onRequest", async (request, reply) => {
      reply.header("docker-distribution-api-version", "registry/2.0");
      // The body of a push is not read: it may be large, and nothing is stored.
      if (!["GET", "HEAD"].includes(request.method)) {
        reply.header("allow", "GET, HEAD");
        return refuse(reply, "UNSUPPORTED", "This registry has only the images of its release. It takes no pushes.");
      }
    });
    scope.all("/v2", FOR_ANY_HOST, async (_request, reply) => reply.send({}));
    scope.all<{ Params: { "*": string } }>("/v2/*", FOR_ANY_HOST, async (request, reply) => {
      const asked = registryRequest(request.params["*"]);
      if (asked?.kind === "base") return reply.send({});
      const repository = asked && store.get(asked.repository);
      if (!repository) return refuse(reply, "NAME_UNKNOWN", `Its repositories are ${[...store.keys()].join(", ")}.`);
      if (asked.kind === "tags") return sendTags(asked, repository, request, reply);
      if (asked.kind === "referrers") return reply.type(INDEX_TYPE).send(NO_REFERRERS);
      const descriptor = findContent(asked, repository);
      if (!descriptor) {
        const code = asked.kind === "blobs" ? "BLOB_UNKNOWN" : "MANIFEST_UNKNOWN";
        return refuse(reply, code, `${asked.repository} does not have ${asked.reference}.`);
      }
      const type = asked.kind === "blobs" ? "application/octet-stream" : descriptor.mediaType;
      reply.type(type).header("docker-content-digest", descriptor.digest);
      if (request.method === "HEAD") return sendContent(descriptor, repository, reply);
      try {
        return await downloads(request.ip, () => {
          const { socket } = request.raw;
          if (socket.destroyed) return Promise.resolve(reply.hijack());
          return untilSent(sendContent(descriptor, repository, reply), socket, stalledAfterMs);
        });
      } catch (error) {
        if (!(error instanceof QueueFull)) throw error;
        reply.header("retry-after", "10");
        return refuse(reply, "TOOMANYREQUESTS", "Too many downloads of this address are waiting. Try again later.");
      }
    });
  });
}

function findContent(
  { kind, reference }: Extract<RegistryRequest, { readonly reference: string }>,
  { tags, manifests, contents }: Repository,
): Descriptor | undefined {
  if (kind === "blobs") return contents.get(reference);
  return isDigest(reference) ? manifests.get(reference) : tags.get(reference);
}

function sendTags(
  { repository: name }: Extract<RegistryRequest, { kind: "tags" }>,
  repository: Repository,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { n, last } = request.query as Record<string, string | undefined>;
  const { tags, hasMore } = pageOfTags([...repository.tags.keys()], { n, last });
  const next = new URLSearchParams({ n: n ?? "", last: tags.at(-1) ?? "" });
  if (hasMore) reply.header("link", `</v2/${name}/tags/list?${next.toString()}>; rel="next"`);
  return reply.send({ name, tags });
}

/** Resolves when the answer is sent or its client has gone, so that the queue counts downloads and not requests. */
async function untilSent(reply: FastifyReply, socket: Socket, stalledAfterMs: number): Promise<FastifyReply> {
  const cutOff = () => socket.destroy();
  socket.setTimeout(stalledAfterMs, cutOff);
  await finished(reply.raw).catch(() => undefined);
  socket.off("timeout", cutOff).setTimeout(0);
  return reply;
}

/** Contents never change under their digest, so they may be cached for ever; a tag is asked for again. */
const sendContent = ({ digest }: Descriptor, { blobs }: Repository, reply: FastifyReply): FastifyReply =>
  reply.sendFile(blobFile(digest), blobs, { contentType: false, cacheControl: false, lastModified: false });

function refuse(reply: FastifyReply, code: keyof typeof REFUSALS, message: string): FastifyReply {
  return reply
    .code(REFUSALS[code])
    .type("application/json; charset=utf-8")
    .send(JSON.stringify({ errors: [{ code, message }] }));
}
