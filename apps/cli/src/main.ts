import { accessSync, constants, readFileSync } from "node:fs"
import { homedir, userInfo } from "node:os"
import { isAbsolute } from "node:path"
import type { Inputs } from "./command.ts"
import { systemReason } from "./errors.ts"
import { inputFrom } from "./input.ts"
import { run } from "./run.ts"
import { type Urls, urlsOf } from "./settings/contexts.ts"

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const

const onInterrupt: Inputs["onInterrupt"] = (interrupted) => {
  // A second signal of the same kind ends the process as usual.
  for (const signal of signals) process.once(signal, interrupted)
  return () => signals.forEach((signal) => void process.removeListener(signal, interrupted))
}

// As another user's, whose HOME a container's image kept.
const isClosed = (folder: string): boolean => {
  try {
    accessSync(folder, constants.X_OK)
    return false
  } catch (error) {
    return systemReason(error) === "EACCES"
  }
}

// HOME if it's an absolute path, else the system's entry for the user, if there is one.
const homeFolder = (): string | undefined => {
  for (const find of [homedir, () => userInfo().homedir]) {
    try {
      const folder = find()
      if (isAbsolute(folder) && !isClosed(folder)) return folder
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

let isRead = true
process.stdout.on("error", () => (isRead = false))
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
    flush: () => new Promise((resolve) => process.stdout.write("", (error) => resolve(error ?? undefined))),
    screen: () => ({ columns: process.stdout.columns, rows: process.stdout.rows }),
  },
  stderr: { isTTY: process.stderr.isTTY, write: (text) => void process.stderr.write(text) },
  ...inputFrom(process.stdin),
  onInterrupt,
  pipes: {
    input: process.stdin,
    output: process.stdout,
    exitSoon: () => void setTimeout(() => process.exit(), 700).unref(),
  },
})
