import { spawn } from "node:child_process"
import { constants } from "node:os"
import type { Context } from "../command.ts"
import { CliError, systemReason } from "../errors.ts"
import { apiWithKey } from "../settings/key.ts"
import { copyUrls, serviceUrl } from "../settings/settings.ts"

/** `svc run -- PROGRAM…`: runs a program that gets the stored key and the copy's URLs, and returns its exit code. */
export const runProgram = async (context: Context): Promise<number> => {
  const [program = "", ...args] = context.args
  const { url, key } = await apiWithKey(context)
  const { stream_url } = await copyUrls(context)
  const env = {
    ...context.env,
    SVC_API_KEY: key,
    SVC_API_URL: url,
    SVC_DOCS_URL: await serviceUrl("docs", context),
    SVC_RELAY_URL: await serviceUrl("relay", context),
    ...(stream_url === undefined ? {} : { SVC_STREAM_URL: stream_url }),
  }
  const child = spawn(program, args, { env, stdio: "inherit" })
  // The program decides when it ends. A terminal interrupts both; other signals come to this process alone.
  const undo = context.onInterrupt((signal) => void (signal !== "SIGINT" && child.kill(signal)))
  return new Promise<number>((resolve, reject) => {
    child.once("error", (error) => {
      reject(new CliError("program-not-started", `${program} can't be started (${systemReason(error)}).`))
    })
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])))
  }).finally(undo)
}
