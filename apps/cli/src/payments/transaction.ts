import { looksLikeMessage, transactionParts } from "@svc/common/transaction-parts"
import type { Context } from "../command.ts"
import { CliError } from "../errors.ts"
import { textOf } from "../settings/files.ts"

/** More bytes than any transaction has, even as base64 with line breaks. */
export const inputLimit = 16_384

/** The bytes of canonical base64. */
export const decoded = (base64: string): Uint8Array => {
  const bytes = Buffer.from(base64, "base64")
  if (base64 !== "" && bytes.toString("base64") === base64) return bytes
  throw new CliError("invalid_base64", "The transaction isn't padded base64.")
}

/** Whatever else was passed, such as a wallet's secret key, stays here. Returns the message. */
export const checkParts = (bytes: Uint8Array): Uint8Array => {
  const parts = transactionParts(bytes)
  if (typeof parts !== "string" && looksLikeMessage(parts.message)) return parts.message
  throw new CliError("invalid_transaction", "The bytes aren't a whole transaction.")
}

/** A transaction from a file or the standard input: raw bytes, or base64 with any line breaks, also in quotes. */
export const readTransaction = async (context: Context): Promise<string | Uint8Array> => {
  const [file = "-"] = context.args
  const bytes = await context.readInput(file)
  if (bytes.length === 0) throw new CliError("no-input", `${file === "-" ? "The standard input" : file} is empty.`)
  if (bytes.length > inputLimit) {
    throw new CliError(
      "transaction_too_large",
      `${file === "-" ? "The standard input" : file} isn't a transaction: it has over ${inputLimit} bytes.`,
    )
  }
  // Raw bytes never look like base64: the first byte is the number of signatures, or 0x81.
  const text = textOf(bytes).replaceAll(/\s/g, "")
  const base64 = /^(["']?)([A-Za-z0-9+/=]{9,})\1$/.exec(text)?.[2]
  checkParts(base64 === undefined ? bytes : decoded(base64))
  return base64 ?? bytes
}
