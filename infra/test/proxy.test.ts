// The proxy's own settings in front of services that tell what reached them. Needs Caddy on the machine; CI has it.
import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { type Server, createServer } from "node:http"
import { type RequestOptions, request } from "node:https"
import { request as plainRequest } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { freePort, startProcess, type TestProcess } from "@svc/testing"
import { afterAll, beforeAll, describe, expect, test } from "vitest"

const hasCaddy = spawnSync("caddy", ["version"]).status === 0
const hosts = {
  "docs-server:4001": "docs.localhost",
  "platform-api:4003": "api.localhost",
  "relay:4002": "relay.localhost",
}

type Answer = { status: number | undefined; headers: Record<string, unknown>; text: string }

describe.skipIf(!hasCaddy && process.env["CI"] === undefined)("the proxy", () => {
  let folder: string
  let proxy: TestProcess
  let authority: Buffer
  let ports: { http: number; https: number }
  const upstreams: Server[] = []

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-proxy-"))
    ports = { http: await freePort(), https: await freePort() }
    let settings = await readFile(join(import.meta.dirname, "../Caddyfile"), "utf8")
    for (const name of Object.keys(hosts)) {
      const upstream = createServer((incoming, answer) => {
        answer.setHeader("server", "upstream")
        answer.end(JSON.stringify({ name, method: incoming.method, headers: incoming.headers }))
      }).listen(0, "127.0.0.1")
      await once(upstream, "listening")
      upstreams.push(upstream)
      settings = settings.replaceAll(name, `127.0.0.1:${(upstream.address() as AddressInfo).port}`)
    }
    const file = join(folder, "Caddyfile")
    const own = { 8080: ports.http, 8443: ports.https, 8081: await freePort() }
    await writeFile(
      file,
      settings.replaceAll(/8080|8443|8081/g, (port) => String(own[Number(port) as keyof typeof own])),
    )
    const env = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
    proxy = startProcess("caddy", ["run", "--config", file, "--adapter", "caddyfile"], { cwd: folder, env })
    for (const host of Object.values(hosts)) {
      await proxy.waitFor(new RegExp(`certificate obtained successfully.*"identifier":"${host.replace(".", "\\.")}"`))
    }
    await proxy.waitFor(/serving initial configuration/)
    authority = await readFile(join(folder, "caddy/pki/authorities/local/root.crt"))
  })
  afterAll(async () => {
    proxy?.kill("SIGTERM")
    await proxy?.exited
    for (const upstream of upstreams) upstream.close()
    await rm(folder, { recursive: true, force: true })
  })

  const asked = async (host: string, options: RequestOptions = {}): Promise<Answer> => {
    const { https: port } = ports
    const call = request({ host: "127.0.0.1", port, servername: host, ca: authority, agent: false, ...options })
    call.setHeader("host", host)
    for (const [name, value] of Object.entries(options.headers ?? {})) call.setHeader(name, String(value))
    call.end()
    const [response] = await once(call, "response")
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    return { status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString() }
  }

  test.each(Object.entries(hosts))("leads to %s over TLS by its host name", async (name, host) => {
    const { status, headers, text } = await asked(host)
    expect(status).toBe(200)
    expect(JSON.parse(text)).toMatchObject({ name, headers: { host } })
    expect(headers["strict-transport-security"]).toBe("max-age=31536000")
    expect(headers["server"]).toBeUndefined()
  })

  test("forwards the address that it saw, whatever a client claims", async () => {
    const claims = {
      "x-forwarded-for": "203.0.113.9",
      "x-forwarded-host": "elsewhere.example",
      forwarded: "for=203.0.113.9",
    }
    const { text } = await asked("relay.localhost", { headers: claims })
    const { headers } = JSON.parse(text) as { headers: Record<string, string> }
    expect(headers["x-forwarded-for"]).toBe("127.0.0.1")
    expect(headers["x-forwarded-host"]).toBe("relay.localhost")
  })

  test("passes on what tokens and publishable keys need", async () => {
    const sent = { authorization: "Bearer token", origin: "https://app.example" }
    expect(JSON.parse((await asked("relay.localhost", { method: "POST", headers: sent })).text)).toMatchObject({
      method: "POST",
      headers: sent,
    })
  })

  test("sends plain HTTP to HTTPS, without the inner port", async () => {
    const call = plainRequest({
      host: "127.0.0.1",
      port: ports.http,
      path: "/mcp",
      headers: { host: "docs.localhost" },
    })
    call.end()
    const [response] = await once(call, "response")
    response.resume()
    expect(response.statusCode).toBe(308)
    expect(response.headers.location).toBe("https://docs.localhost/mcp")
  })
})
