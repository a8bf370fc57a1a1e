import manifest from "../package.json" with { type: "json" }
import { createApp } from "../src/app.ts"

const { document: describe } = createApp({
  log: { error: () => {} },
  version: manifest.version,
  publicUrl: "http://localhost:4002",
  docsUrl: "http://localhost:4001",
  draining: () => false,
  keysKnown: () => true,
  transactions: undefined,
  onUnprotected: undefined,
})

/** The OpenAPI document of a relay, whether its routes are enabled or not. */
export const document = describe()
