import { setFlagsFromString } from "node:v8"
import { processRuntime, runService } from "@svc/http"
import { startService } from "./service.ts"

// Reading many pages makes much garbage: with a young generation that grows for it, the server keeps 60 MB more for good.
setFlagsFromString("--semi-space-growth-factor=1")

await runService(() => startService(processRuntime()))
