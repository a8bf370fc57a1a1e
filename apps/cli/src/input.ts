import { createReadStream } from "node:fs"
import type { Readable } from "node:stream"
import type { Inputs } from "./command.ts"
import { CliError, systemReason, usageError } from "./errors.ts"
import { inputLimit } from "./payments/transaction.ts"
import { textOf } from "./settings/files.ts"

const lineLimit = 4096
const lineTimeMs = 30_000

/** What commands read from a standard input or from files. */
export const inputFrom = (
  stdin: Readable & { readonly isTTY?: boolean | undefined },
): Pick<Inputs, "readLine" | "readInput"> => ({
  readLine: async () => {
    if (stdin.isTTY === true) {
      throw usageError("Pass the key on the standard input: svc auth login < KEY-FILE.", "auth login")
    }
    const tooLate = setTimeout(() => {
      stdin.destroy(new CliError("no-input", "The standard input is empty.", { next: "Next: svc auth login --help" }))
    }, lineTimeMs)
    const chunks: Buffer[] = []
    let text = ""
    try {
      for await (const chunk of stdin) {
        chunks.push(Buffer.from(chunk))
        text = textOf(Buffer.concat(chunks))
        if (text.trimStart().includes("\n") || text.length > lineLimit) break
      }
    } finally {
      clearTimeout(tooLate)
    }
    return text.trim().split("\n")[0]?.trim() ?? ""
  },
  readInput: async (file) => {
    if (file === "-" && stdin.isTTY === true) {
      throw usageError("Pass the transaction as a file or on the standard input: svc send FILE.", "send")
    }
    const chunks: Uint8Array[] = []
    let size = 0
    try {
      for await (const chunk of file === "-" ? stdin : createReadStream(file)) {
        if (!(chunk instanceof Uint8Array)) continue
        chunks.push(chunk)
        size += chunk.length
        // A longer input can't be a transaction.
        if (size > inputLimit) break
      }
    } catch (error) {
      throw new CliError("unreadable-file", `${file} can't be read (${systemReason(error)}).`)
    }
    return Uint8Array.from(Buffer.concat(chunks))
  },
})
