import manifest from "../package.json" with { type: "json" }
import { describe } from "../src/app.ts"

/** The OpenAPI document as the platform serves it at its default address. */
export const document: unknown = describe({ version: manifest.version, publicUrl: "http://localhost:4003" })
