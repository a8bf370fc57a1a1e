// @module-tag long
import { readdir } from "node:fs/promises"
import { connect } from "node:net"
import { join } from "node:path"

import { startProcess } from "@svc/testing"
import { expect, test } from "vitest"

import { testFolder } from "../test/start-service.ts"
import { buildTool } from "./running/build-tool.ts"

const refuses = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy()
      resolve(false)
    })
    socket.once("error", () => resolve(true))
  })

test("Ctrl-C in the middle of the demo stops all services and leaves no file", async () => {
  // The demo builds the tool if it has changed, and the compiler has a cache among the temporary files.
  expect(await buildTool(join(import.meta.dirname, ".."))).toBeUndefined()
  const folder = await testFolder()
  // setsid gives it its own process group, as a terminal does.
  const demo = startProcess("setsid", [process.execPath, join(import.meta.dirname, "demo.ts")], {
    env: { TMPDIR: folder },
  })
  const [, port] = await demo.waitFor(/GET http:\/\/localhost:(\d+)\/agent\.md/)
  await demo.waitFor(/^2\. /m)
  expect(await readdir(folder)).not.toEqual([])
  process.kill(-demo.pid, "SIGINT")
  expect(await demo.exited).toBe(1)
  expect(await readdir(folder)).toEqual([])
  expect(await refuses(Number(port))).toBe(true)
})
