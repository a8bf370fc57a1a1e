import { execFileSync } from "node:child_process"
import { connect, type Socket } from "node:net"
import { postJson } from "@svc/testing"
import { expect, onTestFinished, test, vi } from "vitest"
import { platformSettings, startService, testReceiver } from "./start-service.ts"

const full = process.env["SVC_FUZZ"] === "full"
const attackMs = full ? 60_000 : 1200
vi.setConfig({ testTimeout: attackMs + 60_000 })

/** A service with the heap that Node takes in a container of 512 MiB. */
const start = async (app: Parameters<typeof startService>[0], env: Readonly<Record<string, string>> = {}) => {
  const { child, port, url } = await startService(app, env, ["--max-old-space-size=256"])
  let exit: unknown
  void child.exited.then((code) => (exit = code))
  const megabytes = () => Number(execFileSync("ps", ["-o", "rss=", "-p", String(child.pid)]).toString()) / 1024
  return { port, url, megabytes, exit: () => exit }
}

type Service = Awaited<ReturnType<typeof start>>

/** Clients that send all of it at once and never read: a socket that nobody listens to takes 64 KiB and no more. */
const attack = (port: number, connections: number, bytes: string): void => {
  const sockets = Array.from({ length: connections }, (): Socket => {
    const socket = connect(port, "127.0.0.1").on("error", () => {})
    socket.write(bytes)
    return socket
  })
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
}

const get = (path: string, more = ""): string => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${more}\r\n`
/** With a head of several of the pieces in which the server reads. */
const getAtLength = (path: string): string => get(path, `x-head: ${"h".repeat(9000)}\r\n`)

/** Asks again and again while the attack goes on; the slowest of a hundred answers, and the most memory seen. */
const others = async (service: Service, path: string) => {
  const { megabytes, exit } = service
  const times: number[] = []
  let most = 0
  const end = performance.now() + attackMs
  while (performance.now() < end && exit() === undefined) {
    const began = performance.now()
    await ask(service, path)
    times.push(performance.now() - began)
    most = Math.max(most, megabytes())
  }
  times.sort((a, b) => a - b)
  return { exit: exit(), megabytes: most, p99: times[Math.floor(times.length * 0.99)] ?? Infinity }
}

const ask = async ({ url }: Service, path: string): Promise<void> => {
  const answer = await fetch(`${url}${path}`, { signal: AbortSignal.timeout(30_000) })
  await answer.arrayBuffer()
  expect(answer.status).toBe(200)
}

const attacked = async (service: Service, begin: () => void) => {
  await ask(service, "/health")
  begin()
  return others(service, "/health")
}

const served = {
  exit: undefined,
  megabytes: expect.toSatisfy((most: number) => most < 400),
  // Among other tests the machine may be busy: there it counts that everybody is answered.
  p99: expect.toSatisfy((ms: number) => ms < (full ? 1000 : Infinity)),
}

test.each([
  ["docs-server", 100, get("/llms-full.txt").repeat(1000)],
  // Heads of several of the pieces in which the server reads.
  ["docs-server", 30, getAtLength("/llms-full.txt").repeat(400)],
  ["platform-api", 150, get("/openapi.json").repeat(1000)],
  ["relay", 150, get("/openapi.json").repeat(1000)],
] as const)("clients that pipeline and never read do not bring down %s", async (app, clients, bytes) => {
  const service = await start(app, app === "platform-api" ? await platformSettings() : {})
  expect(await attacked(service, () => attack(service.port, clients, bytes))).toEqual(served)
})

test("9 clients that pipeline 60 simulations with answers of 1.9 MB and never read do not bring the relay down", async () => {
  const logs = JSON.stringify(Array.from({ length: 1900 }, () => "x".repeat(1000)))
  const value = `{"err":null,"logs":${logs},"unitsConsumed":1,"accounts":null,"returnData":null}`
  const provider = await testReceiver()
  provider.answer(({ body: asked }, response) => {
    const [, id] = /"id":(\d+)/.exec(String(asked)) ?? []
    response.end(`{"jsonrpc":"2.0","id":${id},"result":{"context":{"slot":1},"value":${value}}}`)
  })
  const relay = await start("relay", { SVC_TRANSACTIONS_ENABLED: "true", SVC_TRANSACTION_RPC_URL: provider.url })
  // One signature, then whatever.
  const body = JSON.stringify({ transaction: Buffer.alloc(200, 1).toString("base64") })
  const head = `POST /transactions/v1/simulate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
  const simulate = `${head}Content-Length: ${body.length}\r\n\r\n${body}`
  const first = await postJson(`${relay.url}/transactions/v1/simulate`, body)
  expect([first.status, (await first.text()).length > 1_900_000]).toEqual([200, true])
  expect(await attacked(relay, () => attack(relay.port, 9, simulate.repeat(60)))).toEqual(served)
})
