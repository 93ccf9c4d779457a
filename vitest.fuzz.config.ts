import { defineConfig } from "vitest/config";

/** The short form of `npm run fuzz`. Apart from the rest, because it measures and takes the whole machine. */
export default defineConfig({
  test: { include: ["test/fuzz/short.test.ts"], pool: "forks", testTimeout: 20_000, hookTimeout: 300_000 },
});
