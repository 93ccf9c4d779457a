import { defineConfig } from "vitest/config";
import {
  AT_A_GIT_HOST,
  BY_TOFU,
  FUZZ,
  HOSTILE_TEXT,
  IN_A_BROWSER,
  OF_IMAGES,
  ON_A_NODE,
  ON_KUBERNETES,
  PROGRAMS,
  project,
  REPLICAS,
  RUN_FOLDER,
  UNDER_OUTAGES,
  WHOLE_PROCESSES,
} from "./test/projects.ts";

/** The database that is embedded in the server is tested as what it is, whatever the others run on. */
const EMBEDDED = "packages/server/src/database/embedded/**/*.test.ts";
const ON_A_DATABASE = [
  "packages/{cli,client}/src/**/*.world.test.ts",
  "test/rules/**/*.test.ts",
  "test/provisioning/**/*.test.ts",
];

/** The tests that need nothing but the packages, without those of `npm run test:slow`. */
export default defineConfig({
  test: {
    projects: [
      project("database", {
        include: ["packages/server/src/**/*.test.ts", ...ON_A_DATABASE],
        exclude: [EMBEDDED, ...ON_KUBERNETES, ...BY_TOFU, ...PROGRAMS, ...HOSTILE_TEXT],
        globalSetup: [RUN_FOLDER, "test/world/setup.ts"],
      }),
      project("alone", {
        include: ["packages/!(server)/src/**/*.test.ts", EMBEDDED, "bench/**/*.test.ts", "test/**/*.test.ts"],
        exclude: [
          ...ON_A_DATABASE,
          ...ON_KUBERNETES,
          ...BY_TOFU,
          ...WHOLE_PROCESSES,
          ...PROGRAMS,
          REPLICAS,
          FUZZ,
          IN_A_BROWSER,
          OF_IMAGES,
          ON_A_NODE,
          UNDER_OUTAGES,
          AT_A_GIT_HOST,
        ],
        globalSetup: [RUN_FOLDER],
      }),
    ],
  },
});
