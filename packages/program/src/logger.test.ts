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

test.each([true, false])(
  "a line has others' text in it on one line, and none of that controls a terminal or hides; at a terminal: %j",
  async (pretty) => {
    const hostile = "a\u001b]0;t\u0007\u009b31m\r\nb\u2028c\u202ed\u200b\u{e0041}e"
    const source = `
      import { createLogger } from ${JSON.stringify(import.meta.resolve("./index.ts"))}
      const log = await createLogger({ level: "info", pretty: ${pretty}, service: "probe" })
      const text = ${JSON.stringify(hostile)}
      log.info({ text, deep: [{ text }] }, text)
      log.error({ err: new Error(text) }, "failed")`
    const child = startProcess(process.execPath, ["--input-type=module", "-e", source])
    await child.exited
    // Pretty lines have colors.
    const shown = child.stdout().replaceAll(/\p{Cc}\[\d+m/gu, "")
    expect(shown).not.toMatch(/(?!\n)\p{Cc}|[\u200b\u2028\u202e\u{e0041}]/u)
    const lines = shown.trimEnd().split("\n")
    expect(lines[0]).toContain("b")
    if (!pretty) expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([hostile, "failed"])
    else expect(lines[1]).toContain("text: ")
  },
)
