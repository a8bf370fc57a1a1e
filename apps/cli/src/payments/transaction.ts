import type { Context } from "../command.ts"
import { CliError } from "../errors.ts"

/** More bytes than any transaction has, even as base64 with line breaks. */
export const inputLimit = 16_384

/** A transaction from a file or the standard input: raw bytes, or base64 with any line breaks. */
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
  const text = new TextDecoder("latin1").decode(bytes)
  return /^[A-Za-z0-9+/=\s]+$/.test(text) && text.trim().length > 8 ? text.replaceAll(/\s/g, "") : bytes
}
