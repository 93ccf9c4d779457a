import { existsSync } from "node:fs";
import { join } from "node:path";
import serveFiles from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { Fault } from "../fault.ts";
import { refuseOtherMethods } from "../http/refusals.adapter.ts";

const BUILT = new URL("../../../console/dist/", import.meta.url).pathname;

/** The addresses of pages. Every other unknown address stays a 404, so that a misspelt call of the API never gets a page. */
const PAGES = ["/", "/login", "/device", "/account", "/admin", "/admin/*", "/o/*"];
const LOOSE_FILES = ["/favicon.svg", "/color-scheme.js"];

/** Serves the console that `npm run build:console` has built. */
export async function registerConsole(app: FastifyInstance, folder = BUILT): Promise<void> {
  const isBuilt = existsSync(join(folder, "index.html"));
  if (isBuilt) {
    await app.register(serveFiles, {
      root: join(folder, "assets"),
      prefix: "/assets/",
      preCompressed: true,
      immutable: true,
      maxAge: "365d",
    });
  }
  for (const url of [...PAGES, ...LOOSE_FILES]) {
    app.get(url, async (_request, reply) => {
      if (!isBuilt)
        throw new Fault("not_found", "The console is not built. Run `npm run build:console`, then restart.");
      // The page names the hashed files of one build, so it is asked for again at every visit. An image gives all files the same
      // time, so a validator of size and time would keep a browser on the page of an older release.
      const options = { maxAge: 0, immutable: false, cacheControl: false, etag: false, lastModified: false };
      reply.header("cache-control", "no-cache");
      return reply.sendFile(LOOSE_FILES.includes(url) ? url.slice(1) : "index.html", folder, options);
    });
    refuseOtherMethods(app, url, ["GET"]);
  }
}
