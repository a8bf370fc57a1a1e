import { startProcess } from "@svc/testing"
import { existsSync } from "node:fs"
import { expect, test } from "vitest"

test.each(["", "log.flush(() => process.exit())"])(
  "all lines, short and long, are written in order before an orderly exit: %j",
  async (end) => {
    const source = `
      import { createLogger } from ${JSON.stringify(import.meta.resolve("./index.ts"))}
      const log = await createLogger({ level: "info", pretty: false, service: "probe" })
      for (let i = 0; i < 300; i++) log.info({ i, text: "é€😀".repeat(i % 50 === 0 ? 5000 : 3) })
      ${end}`
    const child = startProcess(process.execPath, ["--input-type=module", "-e", source])
    await child.exited
    const lines = child.stdout().trimEnd().split("\n")
    expect(lines.map((one) => (JSON.parse(one) as { i: number }).i)).toEqual(Array.from({ length: 300 }, (_, i) => i))
  },
)

test.runIf(existsSync("/dev/full")).each([
  ["process.exit(3)", ""],
  ["log.flush((error) => log.flush(() => process.stderr.write(error.code, () => process.exit(3))))", "ENOSPC"],
  ["process.exitCode = 3", ""],
])("a full disk neither stops a service nor keeps it from ending: %s", async (end, told) => {
  const source = `
    import { createLogger } from ${JSON.stringify(import.meta.resolve("./index.ts"))}
    const log = await createLogger({ level: "info", pretty: false, service: "probe" })
    for (let i = 0; i < 300; i++) log.info("€".repeat(5000))
    ${end}`
  const child = startProcess("sh", [
    "-c",
    'exec "$0" --input-type=module -e "$1" > /dev/full',
    process.execPath,
    source,
  ])
  expect([await child.exited, child.stderr()]).toEqual([3, told])
})
