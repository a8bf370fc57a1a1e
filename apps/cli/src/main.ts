import { createReadStream, readFileSync } from "node:fs"
import { homedir, userInfo } from "node:os"
import { isAbsolute } from "node:path"
import { CliError, systemReason, usageError } from "./errors.ts"
import { run } from "./run.ts"
import { type Urls, urlsOf } from "./settings/contexts.ts"
import { inputLimit } from "./payments/transaction.ts"

const stdinLimit = 4096
const stdinTimeMs = 30_000

const { stdin } = process

const readLine = async (): Promise<string> => {
  if (stdin.isTTY) throw usageError("Pass the key on the standard input: svc auth login < KEY-FILE.", "auth login")
  const tooLate = setTimeout(() => {
    stdin.destroy(new CliError("no-input", "The standard input is empty.", { next: "Next: svc auth login --help" }))
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
  if (file === "-" && stdin.isTTY) {
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
}

const onInterrupt = (interrupted: () => void): (() => void) => {
  // A second interrupt ends the process as usual.
  process.once("SIGINT", interrupted)
  return () => void process.removeListener("SIGINT", interrupted)
}

// HOME if it's an absolute path, else the system's entry for the user, if there is one.
const homeFolder = (): string | undefined => {
  for (const find of [homedir, () => userInfo().homedir]) {
    try {
      const folder = find()
      if (isAbsolute(folder)) return folder
    } catch {
      // The next one may work.
    }
  }
  return undefined
}

// The documentation server adds this file to the package that it serves.
const servedCopy = (): Urls | undefined => {
  try {
    return urlsOf(JSON.parse(readFileSync(new URL("copy.json", import.meta.url), "utf8")))
  } catch {
    return undefined
  }
}

// A reader that stops early (svc explore | head) isn't a failure.
let isRead = true
process.stdout.on("error", (error: Error & { code?: string }) => {
  isRead = false
  if (error.code === "EPIPE") return
  process.stderr.write(`svc: The standard output can't be written (${error.message}).\n`)
  process.exit(1)
})
// Notes that nobody reads don't matter.
process.stderr.on("error", () => {})

process.exitCode = await run({
  argv: process.argv.slice(2),
  env: process.env,
  copy: servedCopy(),
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
  pipes: { input: process.stdin, output: process.stdout },
})
