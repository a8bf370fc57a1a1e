// The fast check: format, lint (type-aware), types and unused code, side by side; no database, no network.
import { spawn } from "node:child_process"

const checks: Record<string, string[]> = {
  format: ["oxfmt", "--check", "."],
  lint: ["oxlint", "--type-aware", "--max-warnings", "0"],
  types: ["tsc", "--project", "tsconfig.json"],
  unused: ["knip", "--no-progress"],
}

const run = (name: string, [command = "", ...args]: string[]) =>
  new Promise<boolean>((resolve) => {
    const chunks: Buffer[] = []
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] })
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => chunks.push(chunk))
    child.on("error", (error) => chunks.push(Buffer.from(String(error))))
    child.on("close", (code) => {
      const ok = code === 0
      console.log(`${ok ? "ok    " : "FAILED"} ${name}`)
      if (!ok) console.log(Buffer.concat(chunks).toString())
      resolve(ok)
    })
  })

const results = await Promise.all(Object.entries(checks).map(([name, command]) => run(name, command)))
process.exitCode = results.every(Boolean) ? 0 : 1
