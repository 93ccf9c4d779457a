import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const TARGET = process.env["BINNACLE_URL"] ?? "http://127.0.0.1:8080";

/** `npm run console` serves the sources with hot reload and passes requests of the API on to a running server. */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [react()],
  css: { postcss: { plugins: [(await import("postcss-preset-mantine")).default()] } },
  // The server refuses pages of other origins than its own, and this one has a port of its own.
  server: { proxy: { "/api": { target: TARGET, ws: true, headers: { origin: TARGET } }, "/docs": TARGET } },
  build: {
    target: "es2023",
    // The server gives these files an immutable cache entry, because their names carry a hash of their contents.
    assetsDir: "assets",
    reportCompressedSize: false,
    // A file in a data: address would need another entry in the content policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1_000,
  },
});
