import { serve } from "@svc/http"
import manifest from "../package.json" with { type: "json" }
import { createApp } from "../src/app.ts"
import { readSettings } from "../src/config.ts"
import type { Dependencies } from "../src/dependencies.ts"

// The routes describe themselves as they are registered; no handler runs that would ask more of what it works with.
const known: Partial<Dependencies> = {
  version: manifest.version,
  publicUrl: "http://localhost:4003",
  config: readSettings({}),
  stopping: new AbortController().signal,
  now: () => performance.now(),
}
const app = createApp(known as Dependencies)

/** The OpenAPI document as the platform serves it at its default address. */
const server = await serve({ host: "127.0.0.1", port: 0, drainMs: 0 })
server.handle(app.fetch)
export const document: unknown = await (await fetch(`${server.url}/openapi.json`)).json()
await server.close()
