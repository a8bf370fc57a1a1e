import { randomBytes, randomUUID } from "node:crypto"
import { runService } from "@svc/http"
import { startService } from "./service.ts"

await runService(() =>
  startService({
    env: process.env,
    terminal: process.stdout.isTTY,
    wallClock: () => Date.now(),
    now: () => performance.now(),
    random: Math.random,
    randomBytes,
    randomId: randomUUID,
  }),
)
