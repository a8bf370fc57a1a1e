import { processRuntime, runService, runProgram } from "@svc/program"
import manifest from "../package.json" with { type: "json" }
import { docsChecks } from "./doctor.ts"
import { startService } from "./service.ts"

const runtime = processRuntime()
await runProgram({
  service: "docs-server",
  version: manifest.version,
  args: process.argv.slice(2),
  serve: () => runService("docs-server", (onOpen) => startService(runtime, onOpen)),
  checks: () => docsChecks(runtime.env, runtime),
})
