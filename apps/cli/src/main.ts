import { createReadStream } from "node:fs"
import { homedir, userInfo } from "node:os"
import { isAbsolute } from "node:path"
import { CliError, systemReason, usageError } from "./errors.ts"
import { run } from "./run.ts"
import { inputLimit } from "./payments/transaction.ts"

const stdinLimit = 4096
const stdinTimeMs = 30_000

const readLine = async (): Promise<string> => {
  const { stdin } = process
  if (stdin.isTTY) throw usageError("The key is read from the standard input: svc auth login < FILE.", "auth login")
  const tooLate = setTimeout(() => {
    stdin.destroy(
      new CliError("no-input", "Nothing came on the standard input.", { next: "Next: svc auth login --help" }),
    )
  }, stdinTimeMs)
  let text = ""
  try {
    for await (const chunk of stdin.setEncoding("utf8")) {
      text += String(chunk)
      if (text.trimStart().includes("\n") || text.length > stdinLimit) break
    }
  } finally {
    clearTimeout(tooLate)
  }
  return text.trim().split("\n")[0]?.trim() ?? ""
}

const readInput = async (file: string): Promise<Uint8Array> => {
  const { stdin } = process
  if (file === "-" && stdin.isTTY) {
    throw usageError("The transaction is read from a file or the standard input: svc send FILE.", "send")
  }
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of file === "-" ? stdin : createReadStream(file)) {
      if (!(chunk instanceof Uint8Array)) continue
      chunks.push(chunk)
      size += chunk.length
      // So much is no transaction, and enough to see it.
      if (size > inputLimit) break
    }
  } catch (error) {
    throw new CliError("unreadable-file", `${file} cannot be read (${systemReason(error)}).`)
  }
  return Uint8Array.from(Buffer.concat(chunks))
}

const onInterrupt = (interrupted: () => void): (() => void) => {
  // A second one ends the tool, as ever.
  process.once("SIGINT", interrupted)
  return () => void process.removeListener("SIGINT", interrupted)
}

// HOME where it is a path, else what the system knows; nothing for a user whom it does not know.
const homeFolder = (): string | undefined => {
  for (const find of [homedir, () => userInfo().homedir]) {
    try {
      const folder = find()
      if (isAbsolute(folder)) return folder
    } catch {
      // The next one may know.
    }
  }
  return undefined
}

// A reader that has seen enough (svc explore | head) is no failure, and makes none undone.
let isRead = true
process.stdout.on("error", (error: Error & { code?: string }) => {
  isRead = false
  if (error.code === "EPIPE") return
  process.stderr.write(`svc: The standard output cannot be written (${error.message}).\n`)
  process.exit(1)
})
// Notes that nobody can read take nothing from the answer.
process.stderr.on("error", () => {})

process.exitCode = await run({
  argv: process.argv.slice(2),
  env: process.env,
  home: homeFolder(),
  stdout: {
    isTTY: process.stdout.isTTY,
    write: (text) => {
      process.stdout.write(text)
      return isRead
    },
    screen: () => ({ columns: process.stdout.columns, rows: process.stdout.rows }),
  },
  stderr: { isTTY: process.stderr.isTTY, write: (text) => void process.stderr.write(text) },
  readLine,
  readInput,
  onInterrupt,
})
