import { startProcess } from "@svc/testing"
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
