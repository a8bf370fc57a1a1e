import { availableParallelism } from "node:os"
import { join } from "node:path"
import { defineConfig } from "vitest/config"

// Half of what the start of a service costs is compiling: its processes find that done here.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compile")

export default defineConfig({
  test: {
    include: ["{apps,packages}/*/{src,test}/**/*.test.ts", "{scripts,infra,test}/**/*.test.ts"],
    globalSetup: "test/global-setup.ts",
    setupFiles: ["test/fixed-seed.ts", "test/real-timers.ts"],
    tags: [
      {
        name: "long",
        description: "Costs a processor many seconds: `pnpm test` leaves it out, `pnpm test:all` and CI run it.",
      },
    ],
    // Many tests start processes and wait for them: two workers leave a third of two cores idle, three a quarter.
    maxWorkers: Math.max(3, Math.floor(availableParallelism() / 2)),
    // A worker loads each module once for all its files, which halves what short files cost. A test that changes the
    // environment, timers or globals puts them back; timers are restored by test/real-timers.ts too.
    isolate: false,
    // Whole processes are started, on a machine that may be busy; `pnpm fuzz` tries up to a million cases. No test says it for itself.
    testTimeout: process.env["SVC_FUZZ"] === "full" ? 14_400_000 : 600_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
