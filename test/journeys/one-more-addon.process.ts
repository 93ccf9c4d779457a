import { configOrExit, stopOnSignal } from "../../packages/process/src/index.ts";
import { type AddonDefinition, loadCatalog } from "../../packages/server/src/catalog/catalog.adapter.ts";
import { definitionId } from "../../packages/server/src/catalog/catalog-file.ts";
import { parseConfig } from "../../packages/server/src/config.ts";
import { startControlPlane } from "../../packages/server/src/control-plane.ts";
import { openLog } from "../../packages/server/src/log.adapter.ts";
import { servingLine } from "../../packages/server/src/welcome.ts";

/**
 * The server with one more addon in its catalog: the small chart of the tests, from a repository on this machine. The charts
 * of the shipped ones are on the internet.
 */
const tiny: AddonDefinition = {
  id: definitionId("tiny"),
  name: "tiny",
  display_name: "Tiny store",
  category: "database",
  icon: "tiny",
  description: "A deployment and a store with a volume, which do nothing.",
  stateful: true,
  chart: { repo: process.env["CHART_REPOSITORY"] ?? "", name: "tiny", version: "1.0.0", versions: ["1.0.0"] },
  default_values: { store: true, claims: true },
  values_schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      store: { const: true },
      claims: { const: true },
      replicas: { type: "integer", minimum: 1, maximum: 5, title: "Replicas" },
      color: { enum: ["red", "green", "blue"], title: "Color" },
      password: { type: "string", minLength: 8, title: "Password", description: "Made up when left out." },
    },
  },
  secret_values: ["password"],
  export_schema: {
    host: { description: "Where clients connect.", secret: false, from: { service: `\${fullname}` } },
    password: { description: "What they say.", secret: true, from: { secret: `\${fullname}`, key: "password" } },
  },
};

const config = configOrExit(parseConfig);
const log = await openLog(config.logLevel, config.environment);
const shipped = await loadCatalog();
const controlPlane = await startControlPlane(config, {
  log,
  catalog: { ...shipped, addons: [...shipped.addons, tiny] },
  // Nothing here may ask a cloud.
  provisions: false,
});
stopOnSignal(log, () => controlPlane.stop());
process.stdout.write(servingLine(controlPlane.url));
