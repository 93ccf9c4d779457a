import { readFile } from "node:fs/promises";
import type { FastifyInstance } from "fastify";
import type { PublicUrl } from "../clusters/connection.ts";
import { refuseOtherMethods } from "../http/refusals.adapter.ts";
import type { BundledCli } from "./cli-downloads.adapter.ts";
import { type CliDownloads, installScript, refusingScript } from "./install-script.ts";

const BODY = new URL("./install.sh", import.meta.url);
const PATH = "/install.sh";

const NO_DOWNLOADS =
  "This control plane has no command line to download. Its administrator can set BINNACLE_IMAGES_DIR to the folder of the release's images.";

/** Serves the script of `curl -fsSL <address>/install.sh | sh`. It is public: it names the release and the address, and nothing else. */
export async function registerInstallScript(
  app: FastifyInstance,
  publicUrl: PublicUrl,
  ofImages: CliDownloads | null,
  bundled: BundledCli | null,
): Promise<void> {
  const downloads = ofImages ?? bundled?.downloads;
  const body = await readFile(BODY, "utf8");
  app.get(PATH, async (_request, reply) =>
    reply
      // As a text, so that a browser shows it to those who read before they run.
      .type("text/plain; charset=utf-8")
      .header("cache-control", "no-cache")
      .send(downloads ? installScript(body, publicUrl(), downloads) : refusingScript(NO_DOWNLOADS)),
  );
  refuseOtherMethods(app, PATH, ["GET"]);
  if (ofImages || !bundled) return;
  const {
    downloads: { path, file },
    archive,
  } = bundled;
  app.get(`${path}${file.slice("sha256:".length)}`, async (_request, reply) =>
    reply.type("application/gzip").send(archive),
  );
}
