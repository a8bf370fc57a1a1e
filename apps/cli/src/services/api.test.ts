import { createServer, type ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"
import { afterEach, expect, test } from "vitest"
import { call } from "./api.ts"

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

const serve = async (answer: (response: ServerResponse) => void): Promise<string> => {
  const server = createServer((_, response) => answer(response))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  stops.push(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : ""}`
}

const failure = async (url: string, limitMs?: number) => {
  return call("api", url, "", limitMs === undefined ? {} : { timeoutMs: limitMs }).then(
    () => undefined,
    (error: unknown) => String(error),
  )
}

test("a service that accepts and says nothing, or stops in the middle, is given up when its time is over", async () => {
  const silent = await serve(() => {})
  expect(await failure(silent, 100)).toMatch(/no whole answer in 0.1 s/)
  const stuck = await serve((response) => response.writeHead(200, { "content-length": 10 }).write("12345"))
  expect(await failure(stuck, 100)).toMatch(/no whole answer in 0.1 s/)
})

test("an answer that breaks off is an error and never a part taken for the whole", async () => {
  const short = await serve((response) => {
    response.writeHead(200, { "content-length": 10 }).write("[]", () => response.destroy())
  })
  expect(await failure(short)).toMatch(/can't be reached: /)
  const zipped = gzipSync(JSON.stringify({ a: "b".repeat(1000) }))
  const cut = await serve((response) => {
    response.writeHead(200, { "content-encoding": "gzip", "content-length": zipped.length })
    response.write(zipped.subarray(0, 20), () => response.destroy())
  })
  expect(await failure(cut)).toMatch(/can't be reached/)
  const wrong = await serve((response) => response.writeHead(200, { "content-encoding": "gzip" }).end("plain"))
  expect(await failure(wrong)).toMatch(/can't be reached: incorrect header check/)
})

test("an answer that grows without end when unpacked is refused", async () => {
  const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024))
  const url = await serve((response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb))
  expect(await failure(url)).toMatch(/larger than 32 MiB/)
})
