import { hash } from "node:crypto"
import { z } from "zod"

/** Thrown for an invalid cursor. The message is for the caller. */
export class CursorError extends Error {
  override readonly name = "CursorError"
}

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

/** Reads a cursor back, or throws CursorError. */
export const readCursor = <T>(schema: z.ZodType<T>, version: string, cursor: string): T => {
  const [payload = "", seal, ...rest] = cursor.split(".")
  const opened = seal === sealOf(payload) && rest.length === 0 ? open(payload) : undefined
  if (opened === undefined)
    throw new CursorError(
      "The cursor is not one that this tool gave. Pass next_cursor exactly as it came, or leave cursor out.",
    )
  const [madeFor, value] = opened
  if (madeFor !== version)
    throw new CursorError("The pages have changed since this cursor was given. Call again without a cursor.")
  const result = schema.safeParse(value)
  if (!result.success) throw new CursorError("The cursor belongs to another tool. Call again without a cursor.")
  return result.data
}
