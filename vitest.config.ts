import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["{apps,packages}/*/{src,test}/**/*.test.ts", "{scripts,infra,test}/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
