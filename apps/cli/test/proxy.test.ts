import { readFile } from "node:fs/promises"
import { createServer as createSecureServer } from "node:https"
import { connect, type AddressInfo, type Socket } from "node:net"
import { join } from "node:path"
import { createServer, type Server } from "node:http"
import { afterAll, beforeAll, expect, test } from "vitest"
import { WebSocketServer } from "ws"
import { makeCertificate } from "../../../infra/test/certificate.ts"
import { nodes } from "../../../test/own-node.ts"
import { proxyTo } from "../src/services/transport.ts"
import { expectError, makeTool, resultOf, runProgram } from "./tool.ts"

const tool = await makeTool()
const [key, cert] = [join(tool.home, "key.pem"), join(tool.home, "cert.pem")]

/** What is behind the proxy: the platform API and a stream, both encrypted. */
let behind: Server
/** What the proxy was asked for, and with which credentials. */
const asked: string[] = []
let status = 200
const proxy = createServer(({ method, url, headers }, response) => {
  asked.push(`${method} ${url} ${headers["proxy-authorization"] ?? ""}`.trim())
  response.writeHead(status, { "content-type": "application/json" }).end("[]")
})
proxy.on("connect", ({ url = "", headers }, client: Socket) => {
  asked.push(`CONNECT ${url} ${headers["proxy-authorization"] ?? ""}`.trim())
  if (status !== 200) {
    client.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: 0\r\n\r\n`)
    return
  }
  const target = connect(portOf(behind), "127.0.0.1", () => {
    client.write("HTTP/1.1 200 Connected\r\n\r\n")
    client.pipe(target).pipe(client)
  })
  target.on("error", () => client.destroy())
  client.on("error", () => target.destroy())
})

const portOf = (server: Server): number => (server.address() as AddressInfo).port
const listen = (server: Server) => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
const view = "Wallet/list"
const stack = {
  name: "transfers",
  description: null,
  websocket_url: "wss://stream.example/transfers",
  schema: { stack_name: "transfers", entities: [{ name: "Wallet", fields: [], views: [{ id: view }] }], types: [] },
}

beforeAll(async () => {
  makeCertificate(key, cert, ["api.example", "stream.example"], 2)
  behind = createSecureServer({ key: await readFile(key), cert: await readFile(cert) }, (request, response) => {
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify(request.url === "/ws/sessions" ? { token: "any" } : stack))
  })
  new WebSocketServer({ server: behind, handleProtocols: () => "svc.stream.v1" }).on("connection", (socket) => {
    socket.once("message", () => {
      socket.send(JSON.stringify({ op: "subscribed", view, mode: "list" }))
      socket.send(JSON.stringify({ op: "snapshot", entity: view, data: [{ key: "k", data: {} }], complete: true }))
    })
  })
  await Promise.all([listen(behind), listen(proxy)])
})
afterAll(() => {
  proxy.closeAllConnections()
  proxy.close()
  behind.closeAllConnections()
  behind.close()
})

test.each(nodes)("an encrypted API and a stream are reached through a proxy with a password, in %s", async (node) => {
  asked.length = 0
  const env = {
    HTTPS_PROXY: `http://me:my%20secret@127.0.0.1:${portOf(proxy)}`,
    NODE_EXTRA_CA_CERTS: cert,
    SVC_API_URL: "https://api.example",
    SVC_API_KEY: "svc_ak_test",
    HOME: tool.home,
  }
  const ended = await runProgram(node, [await tool.file(), "watch", "transfers", "--once", "--json"], { env })
  expect(resultOf(ended)).toEqual({ op: "snapshot", key: "k", record: {} })
  const credentials = `Basic ${Buffer.from("me:my secret").toString("base64")}`
  expect(new Set(asked)).toEqual(
    new Set([`CONNECT api.example:443 ${credentials}`, `CONNECT stream.example:443 ${credentials}`]),
  )
})

const explore = (env: Record<string, string>) =>
  tool.svc(["explore", "--json", "--api-url", "http://api.example"], { env })

test("unencrypted requests go through the proxy, and requests to this machine don't", async () => {
  asked.length = 0
  const env = { http_proxy: `127.0.0.1:${portOf(proxy)}` }
  expect(resultOf(await explore(env))).toEqual({ registry: [] })
  expect(asked).toEqual(["GET http://api.example/api/registry?limit=100&include=schema"])
  const local = `http://localhost:${portOf(proxy)}`
  await tool.svc(["explore", "--json", "--api-url", local], { env: { http_proxy: "http://127.0.0.1:1" } })
  expect(asked.at(-1)).toBe("GET /api/registry?limit=100&include=schema")
})

test("a service without a trusted certificate, or without TLS, has a next step that isn't to start it", async () => {
  const exploring = (port: number) => tool.svc(["explore", "--json", "--api-url", `https://127.0.0.1:${port}`])
  const untrusted = /can't be reached: self-signed certificate.* Set NODE_EXTRA_CA_CERTS to .*, or set another URL/
  expectError(await exploring(portOf(behind)), "unreachable", untrusted)
  expectError(
    await exploring(portOf(proxy)),
    "unreachable",
    /can't be reached: .* Use http:\/\/ or its TLS port, or set/,
  )
})

test("an unreachable or rejecting proxy is named without its password", async () => {
  const secret = "my%20secret"
  const named = `http://me:${secret}@127.0.0.1:${portOf(proxy)}`
  const failing = async (env: Record<string, string>, url: string, text: RegExp) => {
    const ended = await tool.svc(["explore", "--json", "--api-url", url], { env })
    expectError(ended, "proxy-failed", text)
    expect(ended.stdout + ended.stderr).not.toMatch(/my.{1,3}secret/)
  }
  const gone = `http://me:${secret}@127.0.0.1:1`
  const next =
    /http:\/\/127.0.0.1:1 can't be reached: ECONNREFUSED\. Next: correct HTTPS?_PROXY.*add api.example to NO_PROXY$/
  await failing({ HTTP_PROXY: gone }, "http://api.example", next)
  await failing({ HTTPS_PROXY: gone }, "https://api.example", next)
  status = 407
  await failing({ HTTP_PROXY: named }, "http://api.example", /rejects the request with status 407/)
  await failing({ HTTPS_PROXY: named }, "https://api.example", /rejects connections to api.example:443 with status 407/)
  status = 200
  expectError(await explore({ HTTP_PROXY: "socks5://a.example" }), "invalid-config", "HTTP_PROXY isn't the URL")
})

const through = async (url: string, env: Record<string, string>) => (await proxyTo(new URL(url), env)) !== undefined

test.each([
  ["http://a.example", { HTTP_PROXY: "http://p" }, true],
  ["https://a.example", { HTTP_PROXY: "http://p" }, false],
  ["wss://a.example", { https_proxy: "https://p" }, true],
  ["ws://a.example", { HTTP_PROXY: "p:3128" }, true],
  ["https://a.example", { https_proxy: "", HTTPS_PROXY: "http://p" }, true],
  ["http://127.0.0.2", { HTTP_PROXY: "http://p" }, false],
  ["https://[::1]:3", { HTTPS_PROXY: "http://p" }, false],
] as const)("%s with %j goes through a proxy: %s", async (url, env, expected) => {
  expect(await through(url, env)).toBe(expected)
})

test.each([
  ["*", "http://a.example", false],
  ["b.example, a.example", "http://a.example", false],
  ["b.example a.example", "http://www.A.example", false],
  [".a.example", "http://www.a.example", false],
  ["*.a.example", "http://www.a.example", false],
  ["a.example", "http://nota.example", true],
  ["a.example:8080", "http://a.example:8080", false],
  ["a.example:8080", "http://a.example", true],
  ["a.example:80", "http://a.example", false],
  ["10.0.0.0/8", "http://10.1.2.3", false],
  ["10.0.0.0/8", "http://11.1.2.3", true],
  ["10.0.0.0/33,10.0.0.0/x,10.0.0.0/-1", "http://10.0.0.1", true],
  ["10.1.2.3", "http://10.1.2.3:9", false],
  ["fd00::/8", "http://[fd12::1]", false],
  ["fd12::1", "http://[fd12::1]", false],
  ["[fd12::1]:80", "http://[fd12::1]", false],
  ["[fd12::1]:81", "http://[fd12::1]", true],
  ["10.0.0.0/8", "http://a.example", true],
  ["", "http://a.example", true],
])("with NO_PROXY %j, %s goes through the proxy: %s", async (exceptions, url, expected) => {
  expect(await through(url, { HTTP_PROXY: "http://p", no_proxy: exceptions })).toBe(expected)
})
