import { hash } from "node:crypto"
import { ToolError } from "@svc/mcp"
import { z } from "zod"

export const cursorError = (message: string, hint = "Call again without a cursor."): ToolError =>
  new ToolError("invalid-cursor", message, hint)

const sealOf = (payload: string): string => hash("sha256", `cursor ${payload}`, "base64url").slice(0, 12)

const envelope = z.tuple([z.string(), z.unknown()])

/** Decodes a payload; undefined for one that `writeCursor` didn't make, even with a valid seal. */
const open = (payload: string): z.infer<typeof envelope> | undefined => {
  try {
    return envelope.safeParse(JSON.parse(Buffer.from(payload, "base64url").toString())).data
  } catch {
    return undefined
  }
}

/**
 * Makes an opaque cursor for the position `value`. It is valid for one version of the pages: an offset in another version
 * would skip or repeat text. The seal detects damage; it isn't a secret, because a cursor grants no access.
 */
export const writeCursor = (version: string, value: unknown): string => {
  const payload = Buffer.from(JSON.stringify([version, value])).toString("base64url")
  return `${payload}.${sealOf(payload)}`
}

export const readCursor = <T>(schema: z.ZodType<T>, version: string, cursor: string): T => {
  const [payload = "", seal, ...rest] = cursor.split(".")
  const opened = seal === sealOf(payload) && rest.length === 0 ? open(payload) : undefined
  if (opened === undefined)
    throw cursorError(
      "The cursor is not one that this tool returned.",
      "Pass next_cursor exactly as it came, or call again without a cursor.",
    )
  const [madeFor, value] = opened
  if (madeFor !== version) throw cursorError("The pages have changed since this cursor was returned.")
  const result = schema.safeParse(value)
  if (!result.success) throw cursorError("The cursor belongs to another tool.")
  return result.data
}
