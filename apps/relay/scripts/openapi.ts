import manifest from "../package.json" with { type: "json" }
import { describeRelay } from "../src/document/document.ts"

/** The OpenAPI document as the relay serves it at its default address. */
export const document: unknown = describeRelay(manifest.version, "http://localhost:4002")
