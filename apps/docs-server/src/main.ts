import { setFlagsFromString } from "node:v8"
import { processRuntime, runService } from "@svc/http"
import { runProgram } from "@svc/program"
import manifest from "../package.json" with { type: "json" }
import { docsChecks } from "./doctor.ts"
import { startService } from "./service.ts"

// Reading many pages makes much garbage. If the young generation grew for it, the process would keep 60 MB more.
setFlagsFromString("--semi-space-growth-factor=1")

const runtime = processRuntime()
await runProgram({
  service: "docs-server",
  version: manifest.version,
  args: process.argv.slice(2),
  serve: () => runService(() => startService(runtime)),
  checks: () => docsChecks(runtime.env, runtime),
})
