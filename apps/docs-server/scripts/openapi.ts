// Writes openapi.json, which a test compares with what the server serves at its default address.
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { createOpenApiDocument } from "./openapi-document.ts"

const document = createOpenApiDocument("http://localhost:4001")
await writeFile(join(import.meta.dirname, "../openapi.json"), `${JSON.stringify(document, undefined, 2)}\n`)
