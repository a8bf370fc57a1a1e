import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["{apps,packages}/*/{src,test}/**/*.test.ts", "{scripts,infra,test}/**/*.test.ts"],
    // Many tests wait for other processes: one worker a core, not one fewer.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
