import type { Context, Outcome } from "../command.ts"
import { usageError } from "../errors.ts"
import { serviceUrl } from "../settings/settings.ts"
import { configurationFor, isClient } from "./configurations.ts"

/** `svc mcp`: the agent's tools over stdio, or with --config the block for a client's configuration. */
export const mcp = async (context: Context): Promise<Outcome | undefined> => {
  const { config: client = "" } = context.options
  if (!isClient(client)) {
    if (context.pipes === undefined) throw usageError("svc mcp needs a standard input and output.")
    const { serve } = await import("./server.ts")
    await serve(context, context.pipes)
    return undefined
  }
  const { file, text } = configurationFor(client, await serviceUrl("docs", context))
  context.note(`Put this into ${file}:`)
  return { json: { client, file, text }, text: () => text }
}
