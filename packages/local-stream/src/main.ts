import { processRuntime, runService } from "@svc/program"
import { startService } from "./service.ts"

await runService("local-stream", () => startService(processRuntime()))
