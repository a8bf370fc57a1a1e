import manifest from "../package.json" with { type: "json" }
import { createApp, type Dependencies } from "../src/app.ts"

const { document: describe } = createApp({
  log: { error: () => {} },
  version: manifest.version,
  publicUrl: "http://localhost:4002",
  docsUrl: "http://localhost:4001",
  draining: () => false,
  keysKnown: () => true,
  // Nothing of it is used before a request comes.
  transactions: {} as NonNullable<Dependencies["transactions"]>,
  onUnprotected: undefined,
})

/** The OpenAPI document of a relay whose routes are enabled. */
export const document = describe()
