import { processRuntime, runService, runProgram } from "@svc/program"
import manifest from "../package.json" with { type: "json" }
import { relayChecks } from "./doctor.ts"
import { startService } from "./service.ts"

const runtime = processRuntime()
await runProgram({
  service: "relay",
  version: manifest.version,
  args: process.argv.slice(2),
  serve: () => runService("relay", () => startService(runtime)),
  checks: () => relayChecks(runtime.env, runtime),
})
