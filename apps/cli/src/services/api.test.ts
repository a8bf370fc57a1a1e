import type { ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"
import { startReceiver } from "@svc/testing"
import { expect, onTestFinished, test } from "vitest"
import { asCliError } from "../errors.ts"
import { call } from "./api.ts"

const serve = async (respond: (response: ServerResponse) => void): Promise<string> => {
  const { answer, close, url } = await startReceiver()
  onTestFinished(close)
  answer((_request, response) => respond(response))
  return url
}

const failure = async (url: string, timeoutMs = 30_000) =>
  call({ service: "api", base: url, env: {} }, "", { timeoutMs }).then(
    () => undefined,
    (error: unknown) => asCliError(error).message,
  )

test("a request to a service that stalls, at the start or in the middle, ends at its timeout", async () => {
  const silent = await serve(() => {})
  expect(await failure(silent, 100)).toMatch(/sent no response in 0.1 s/)
  const stuck = await serve((response) => response.writeHead(200, { "content-length": 10 }).write("12345"))
  expect(await failure(stuck, 100)).toMatch(/sent no response in 0.1 s/)
})

test("a truncated response is an error, never a partial result", async () => {
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

test("a response that unpacks without end is rejected", async () => {
  const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024))
  const url = await serve((response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb))
  expect(await failure(url)).toMatch(/larger than 32 MiB/)
})
