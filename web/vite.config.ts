import { defineConfig, type Plugin } from "vite";

// Where `npm run dev` finds a running server.
const server = "http://localhost:3000";

/**
 * Asset links in the pages are relative, so that the whole works under any path prefix. A page at
 * /sessions/x lies one level deeper than the wall and needs them with one step up: it gets a copy of
 * its own, sessions/index.html.
 */
function sessionsPage(): Plugin {
  return {
    name: "sessions-page",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("index.html is not in the bundle");
      this.emitFile({
        type: "asset",
        fileName: "sessions/index.html",
        source: page.source.toString().replaceAll('="./', '="../'),
      });
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [sessionsPage()],
  build: {
    // noVNC awaits at its top level.
    target: "es2022",
    modulePreload: { polyfill: false },
    // A data: URL would need a wider content security policy.
    assetsInlineLimit: 0,
    // What is in the bundle belongs to others too; noVNC's licence asks to say so.
    license: { fileName: "licenses.md" },
    rollupOptions: { input: { index: "index.html", vnc: "vnc.html", docs: "docs.html" } },
  },
  server: {
    proxy: { "/api": { target: server, ws: true, changeOrigin: true, headers: { origin: server } } },
  },
});
