import { processRuntime, runService } from "@svc/http"
import { startService } from "./service.ts"

await runService(() => startService(processRuntime()))
