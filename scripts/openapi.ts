// Writes what is generated from routes, schemas and constants: each service's openapi.json, from these the reference pages and the
// types of the client library, and the facts in the pages. Tests compare all of it.
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { document as docsServer } from "../apps/docs-server/scripts/openapi.ts"
import { writeReference } from "../apps/docs-server/scripts/reference/pages.ts"
import { document as platform } from "../apps/platform-api/scripts/openapi.ts"
import { document as relay } from "../apps/relay/scripts/openapi.ts"
import { writeAnswerTypes } from "../packages/client/scripts/answer-types.ts"
import { makeFacts } from "./facts.ts"

const apps = join(import.meta.dirname, "../apps")
for (const [app, document] of Object.entries({ "docs-server": docsServer, relay, "platform-api": platform })) {
  await writeFile(join(apps, app, "openapi.json"), `${JSON.stringify(document, null, 2)}\n`)
}
await writeFile(join(apps, "docs-server/facts.json"), `${JSON.stringify(makeFacts(), null, 2)}\n`)
await Promise.all([writeReference(), writeAnswerTypes()])
