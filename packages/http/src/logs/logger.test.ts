import { startProcess } from "@svc/testing"
import { expect, test } from "vitest"

const line = { request_id: "id-1234567", method: "GET", route: '/a/:b{"\\d+"}', status: 200, duration_ms: 1.25 }

test.each([line, { ...line, trace_id: "0af7651916cd43dd8448eb211c80319c" }])(
  "a request's line is what the logger itself would write of it",
  async (fields) => {
    const source = `
      import { createLogger } from ${JSON.stringify(import.meta.resolve("../index.ts"))}
      Date.now = () => 1_700_000_000_000
      const log = await createLogger({ level: "info", pretty: false, service: "probe" })
      const line = ${JSON.stringify(fields)}
      log.info(line, "request")
      log.request("info", line)
      log.request("debug", line)`
    const child = startProcess(process.execPath, ["--input-type=module", "-e", source])
    expect(await child.exited).toBe(0)
    const [first = "", second, ...rest] = child.stdout().trimEnd().split("\n")
    expect([second, rest]).toEqual([first, []])
    expect(JSON.parse(first)).toEqual({
      level: "info",
      time: "2023-11-14T22:13:20.000Z",
      service: "probe",
      ...fields,
      msg: "request",
    })
  },
)

test.each(["", "throw new Error()", "process.exit()", "log.flush(() => process.exit())"])(
  "all lines are written in their order, short and long ones, however the process ends: %j",
  async (end) => {
    const source = `
      import { createLogger } from ${JSON.stringify(import.meta.resolve("../index.ts"))}
      const log = await createLogger({ level: "info", pretty: false, service: "probe" })
      for (let i = 0; i < 300; i++) log.info({ i, text: "é€😀".repeat(i % 50 === 0 ? 5000 : 3) })
      ${end}`
    const child = startProcess(process.execPath, ["--input-type=module", "-e", source])
    await child.exited
    const lines = child.stdout().trimEnd().split("\n")
    expect(lines.map((one) => (JSON.parse(one) as { i: number }).i)).toEqual(Array.from({ length: 300 }, (_, i) => i))
  },
)
