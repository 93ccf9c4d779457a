import { defineConfig } from "vitest/config";
import { FUZZ } from "./test/projects.ts";

/** The short form of `npm run fuzz`. Apart from the rest, because it measures and takes the whole machine. */
export default defineConfig({
  test: { include: [FUZZ], pool: "forks", testTimeout: 20_000, hookTimeout: 600_000 },
});
