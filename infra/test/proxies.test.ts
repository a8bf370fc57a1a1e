// The shipped configurations of HAProxy, nginx and Caddy in front of services that report what reached them, and against slow clients
// (slowhttptest; `pnpm fuzz`). Needs the Debian packages haproxy, nginx, caddy and slowhttptest; CI has them.
// @module-tag long
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { type IncomingMessage, request as plainRequest } from "node:http"
import { type ClientHttp2Session, connect as connectHttp2, constants, type OutgoingHttpHeaders } from "node:http2"
import { request, type RequestOptions } from "node:https"
import { join } from "node:path"
import { text as wholeText } from "node:stream/consumers"
import { connect, type TLSSocket } from "node:tls"
import { stripVTControlCharacters } from "node:util"
import { freePort, full, startProcess, type TestProcess } from "@svc/testing"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { longestBodyMs, readBody, serve } from "../../packages/http/src/index.ts"
import { folderOfFile } from "../../test/folder-of-file.ts"
import { makeCertificate } from "./certificate.ts"

const infra = join(import.meta.dirname, "..")
const has = (program: string, ...args: string[]): boolean => spawnSync(program, args).error === undefined
const isThere =
  process.env["CI"] !== undefined || (has("haproxy", "-v") && has("nginx", "-v") && has("caddy", "version"))

type Proxy = {
  readonly file: string
  /** How to start it in a folder with its configuration, certificates and pid. */
  readonly start: (folder: string, file: string) => readonly [string, ...string[]]
  readonly check: (folder: string, file: string) => readonly [string, ...string[]]
  readonly domain: string
  /** Whether it balances over replicas. */
  readonly balances: boolean
  /** Whether it limits the kernel's memory for a client. */
  readonly boundsQueues: boolean
}
const caddy = {
  start: (_folder, file) => ["caddy", "run", "--config", file, "--adapter", "caddyfile"],
  check: (_folder, file) => ["caddy", "validate", "--config", file, "--adapter", "caddyfile"],
  domain: "localhost",
  boundsQueues: false,
} satisfies Partial<Proxy>
const proxies: Readonly<Record<string, Proxy>> = {
  haproxy: {
    file: "proxies/haproxy.cfg",
    start: (_folder, file) => ["haproxy", "-db", "-f", file],
    check: (_folder, file) => ["haproxy", "-c", "-f", file],
    domain: "example.com",
    balances: true,
    boundsQueues: true,
  },
  nginx: {
    file: "proxies/nginx.conf",
    start: (folder, file) => ["nginx", "-p", folder, "-c", file, "-g", "daemon off; error_log stderr;"],
    check: (folder, file) => ["nginx", "-t", "-p", folder, "-c", file],
    domain: "example.com",
    balances: true,
    boundsQueues: true,
  },
  caddy: { ...caddy, file: "Caddyfile", balances: false },
  "caddy-on-one-machine": { ...caddy, file: "proxies/Caddyfile", balances: true },
}

const large = Buffer.alloc(8_000_000)

type Ending = "stops" | "is killed"
type Replica = {
  readonly port: number
  readonly start: (ending: Ending) => Promise<void>
  readonly end: () => Promise<void>
}

/** Reports what has reached it, on the same port after each start. `ran` has the ids from `x-id`. */
const makeReplica = (upstream: string, port: number, ran: string[]): Replica => {
  let end = async (): Promise<void> => {}
  const start = async (ending: Ending): Promise<void> => {
    const server = await serve({ host: "127.0.0.1", port, drainMs: ending === "stops" ? 5000 : 0 })
    server.handle(async (incoming, env) => {
      const { method, url } = incoming
      if (url.endsWith("/refused")) return new Response("too much", { status: 413 })
      if (url.endsWith("/late")) {
        const read = readBody({ env }, { limit: 1_000_000, deadlineMs: longestBodyMs / 10 })
        return read.then(
          () => new Response(),
          () => new Response("too late", { status: 408 }),
        )
      }
      const { length } = await readBody({ env }, { limit: 1_000_000 })
      const headers = Object.fromEntries(incoming.headers)
      const id = headers["x-id"]
      if (id !== undefined && !url.endsWith("z")) ran.push(id)
      const told = JSON.stringify({ upstream, method, headers, length })
      return new Response(url.endsWith("/large") ? large : told, { headers: { server: "upstream" } })
    })
    end = server.close
  }
  return { port, start, end: () => end() }
}

/** Bytes that the kernel holds in the send queues of a port. */
const queuedAt = (port: number): number => {
  const end = `:${port.toString(16).toUpperCase().padStart(4, "0")}`
  const lines = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((path) => readFileSync(path, "latin1").split("\n").slice(1))
  const fields = lines.map((line) => line.trim().split(/ +/))
  return fields.reduce(
    (all, [, at = "", , , sizes = ""]) => (at.endsWith(end) ? all + Number.parseInt(sizes, 16) : all),
    0,
  )
}

test("every configuration in proxies/ is tried", () => {
  const files = readdirSync(join(infra, "proxies")).map((name) => `proxies/${name}`)
  expect(Object.values(proxies).map(({ file }) => file)).toEqual(expect.arrayContaining(files))
})

describe.skipIf(!isThere).each(Object.entries(proxies))("%s", (name, proxy) => {
  const folder = folderOfFile()
  let file: string
  let port: number
  let plainPort: number
  let running: TestProcess
  const replicas = new Map<string, Replica>()
  const ran: string[] = []

  beforeAll(async () => {
    for (const sub of ["ssl", "run", "logs"]) mkdirSync(join(folder, sub))
    const [key, cert] = [join(folder, "ssl/privkey.pem"), join(folder, "ssl/fullchain.pem")]
    const hosts = ["docs", "api", "relay"].map((service) => `${service}.example.com`)
    makeCertificate(key, cert, hosts, 2)
    // HAProxy requires both in one file.
    if (name === "haproxy") {
      writeFileSync(join(folder, "ssl/all.pem"), readFileSync(cert, "utf8") + readFileSync(key, "utf8"))
      rmSync(key)
      rmSync(cert)
    }
    port = await freePort()
    plainPort = await freePort()
    const own = { 443: port, 80: plainPort, 8443: port, 8080: plainPort, 8081: await freePort() }
    const services = ["docs", "relay", "api"]
    let settings = readFileSync(join(infra, proxy.file), "utf8").replaceAll(
      /127\.0\.0\.1:40([01])([123])/g,
      (_, replica, service) => `${services[Number(service) - 1]}-${Number(replica) + 1}:400${service}`,
    )
    if (!settings.includes("https_port"))
      settings = settings.replace("admin off", "admin off\n\thttp_port 8080\n\thttps_port 8443\n\tskip_install_trust")
    for (const upstream of new Set(
      settings.match(/\b(?:docs|api|relay)-[12]:\d+|(?:docs-server|platform-api|relay):400\d/g),
    )) {
      const replica = makeReplica(upstream, await freePort(), ran)
      await replica.start("stops")
      replicas.set(upstream, replica)
      settings = settings.replaceAll(upstream, `127.0.0.1:${replica.port}`)
    }
    settings = settings
      // As `/late` does: a tenth of the time.
      .replace(/(?<=read_body )(\d+)s/, (_, seconds) => `${Number(seconds) * 100}ms`)
      .replaceAll(/(?<=bind :|listen )(443|80)\b|\b(8443|8080|8081)\b/g, (found) =>
        String(own[Number(found) as keyof typeof own]),
      )
      // The attack's requests name no host.
      .replace("admin off", "admin off\n\tdefault_sni relay.localhost")
      .replaceAll(/(?<=\n(?:docs|api|relay)\.)example\.com/g, proxy.domain)
      .replaceAll("/etc/ssl/svc", join(folder, "ssl"))
      .replaceAll("/run/nginx.pid", join(folder, "run/nginx.pid"))
    file = join(folder, "config")
    writeFileSync(file, settings)
    const [program, ...args] = proxy.start(folder, file)
    const env = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
    running = startProcess(program, args, { cwd: folder, env })
    // Caddy makes a certificate for each name, one after the other.
    for (const service of services)
      await vi.waitFor(async () => assert.equal((await asked(service)).status, 200), { timeout: 30_000, interval: 100 })
  })
  afterAll(async () => {
    running?.kill("SIGTERM")
    await running?.exited
    await Promise.all([...replicas.values()].map(({ end }) => end()))
  })

  const asked = async (service: string, options: RequestOptions = {}, body = "") => {
    const host = `${service}.${proxy.domain}`
    const base = { host: "127.0.0.1", port, servername: host, rejectUnauthorized: false, agent: false }
    const call = request({ ...base, ...options, headers: { host, ...(options.headers as Record<string, string>) } })
    call.end(body)
    const [response] = await once(call, "response")
    const { statusCode: status, headers } = response as IncomingMessage
    return { status, headers, text: await wholeText(response as IncomingMessage) }
  }

  test("its configuration is valid, and each host name reaches its service over TLS with the client address", async () => {
    const [program, ...args] = proxy.check(folder, file)
    expect(spawnSync(program, args, { encoding: "utf8" })).toMatchObject({ status: 0 })
    const claims = {
      "x-forwarded-for": "203.0.113.9",
      "x-forwarded-host": "elsewhere.example",
      forwarded: "for=203.0.113.9",
    }
    const needed = { authorization: "Bearer token", origin: "https://app.example" }
    const isCaddy = proxy.domain === "localhost"
    // Caddy has its own certificate authority.
    const ca = isCaddy ? readFileSync(join(folder, "caddy/pki/authorities/local/root.crt")) : undefined
    for (const service of ["docs", "api", "relay"]) {
      const options = { headers: { ...claims, ...needed }, method: "POST", localAddress: "127.0.0.5" }
      const { headers, text } = await asked(service, { ...options, ...(ca && { ca, rejectUnauthorized: true }) })
      const told = JSON.parse(text) as { upstream: string; method: string; headers: Record<string, string> }
      expect(told).toMatchObject({ method: "POST", headers: { "x-forwarded-for": "127.0.0.5", ...needed } })
      expect(told.upstream).toContain(service)
      expect(told.headers["forwarded"] ?? "").toBe("")
      expect([`${service}.${proxy.domain}`, undefined]).toContain(told.headers["x-forwarded-host"])
      expect(headers["strict-transport-security"]).toBe("max-age=31536000")
      if (isCaddy) expect(headers["server"]).toBeUndefined()
    }
  })

  test("plain HTTP is redirected to HTTPS, without an inner port", async () => {
    const host = `docs.${proxy.domain}`
    const call = plainRequest({ host: "127.0.0.1", port: plainPort, path: "/mcp", headers: { host } }).end()
    const [response] = await once(call, "response")
    const { statusCode, headers } = (response as IncomingMessage).resume()
    expect([statusCode, headers.location]).toEqual([308, `https://${host}/mcp`])
  })

  test.skipIf(!proxy.balances).each(["stops", "is killed"] as const)(
    "one of two replicas %s, then the other: every read and POST reaches the remaining one exactly once",
    async (ending) => {
      let sent = 0
      const burst = async (): Promise<Set<string>> => {
        const bodies = [0, 1_024, 10_240, 102_400].flatMap((size) => Array<string>(4).fill("a".repeat(size)))
        const first = sent
        const answers = await Promise.all(
          bodies.map((body) => {
            const method = body === "" ? "GET" : "POST"
            const length = body === "" ? {} : { "content-length": String(body.length) }
            return asked("relay", { method, headers: { ...length, "x-id": `${ending} ${++sent}` } }, body)
          }),
        )
        expect(answers.map(({ status }) => status)).toEqual(bodies.map(() => 200))
        const told = answers.map(({ text }) => JSON.parse(text) as { upstream: string; length: number })
        expect(told.map(({ length }) => length)).toEqual(bodies.map(({ length }) => length))
        expect(ran.splice(0).toSorted()).toEqual(bodies.map((_, index) => `${ending} ${first + index + 1}`).toSorted())
        return new Set(told.map(({ upstream }) => upstream))
      }
      const both = ["relay-1:4002", "relay-2:4002"]
      const bothServe = (): Promise<void> => expect.poll(async () => [...(await burst())].toSorted()).toEqual(both)
      for (const [index, one] of both.entries()) {
        const replica = replicas.get(one) ?? assert.fail(one)
        await bothServe()
        await replica.end()
        expect([...(await burst())]).toEqual([both[1 - index]])
        await replica.start(ending)
      }
      await bothServe()
    },
  )

  test("a body that the service refuses before it has arrived gets the service's response, not a bad gateway", async () => {
    const statuses: unknown[] = []
    for (let round = 0; round < 20; round++) {
      const bodies = Array<string>(20).fill("a".repeat(102_400))
      const refused = bodies.map(async (body) => {
        const options = { method: "POST", path: "/refused", headers: { "content-length": String(body.length) } }
        return (await asked("relay", options, body)).status
      })
      statuses.push(...(await Promise.all(refused)))
    }
    expect(new Set(statuses)).toEqual(new Set([413]))
  })

  test("a client of HTTP/2 that withdraws a refused body takes nothing from the requests after it", async () => {
    const host = `relay.${proxy.domain}`
    const open = (): ClientHttp2Session =>
      connectHttp2(`https://127.0.0.1:${port}`, { servername: host, rejectUnauthorized: false })
    const begin = async (session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string) => {
      const stream = session.request({ ":authority": host, ...headers }, { endStream: body === undefined })
      if (body !== undefined) stream.write(body)
      const [response] = (await once(stream, "response")) as [{ ":status"?: number }]
      return { stream: stream.resume(), status: response[":status"] }
    }
    const statuses: unknown[] = []
    for (let round = 0; round < 40; round++) {
      const session = open()
      // Over the most that nginx takes, too.
      const headers = { ":method": "POST", ":path": "/refused", "content-length": "6000000" }
      const { stream, status } = await begin(session, headers, "a".repeat(20_000))
      stream.close(constants.NGHTTP2_CANCEL)
      await once(stream, "close")
      for (let following = 0; following < 3; following++) {
        const next = open()
        statuses.push(`${status} ${(await begin(next, { ":path": "/" })).status}`)
        next.destroy()
      }
      session.destroy()
    }
    expect(new Set(statuses)).toEqual(new Set(["413 200"]))
  })

  // The others have a time for each piece of a body, and respond with 408.
  test.skipIf(proxy.domain !== "localhost")("a body that is late gets the service's response", async () => {
    const options = { method: "POST", path: "/late", headers: { "content-length": "400000" } }
    expect(await asked("docs", options, "a")).toMatchObject({ status: 408, text: "too late" })
  })

  // Where they counted, both replicas would be skipped for a second each time.
  test.skipIf(!proxy.balances).each(["POST", "GET"])(
    "malformed bodies of a client's %s requests count against no replica",
    async (method) => {
      const host = `relay.${proxy.domain}`
      const head = `${method} / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n`
      const sockets: TLSSocket[] = []
      for (let n = 0; n < 40; n++) {
        for (const _ of ["one replica", "the other"]) {
          const socket = connect({ host: "127.0.0.1", port, servername: host, rejectUnauthorized: false })
          sockets.push(socket.on("error", () => {}).resume())
          socket.write(`${head}ZZ\r\n{}`)
        }
        expect((await asked("relay", { method: n % 2 === 0 ? "POST" : "GET" }, "")).status).toBe(200)
      }
      for (const socket of sockets) socket.destroy()
      ran.splice(0)
    },
  )

  test.skipIf(!proxy.boundsQueues)(
    "clients that never read cost the kernel little memory each, and others are served",
    async () => {
      const host = `relay.${proxy.domain}`
      const silent = Array.from({ length: 40 }, () => {
        const socket = connect({ host: "127.0.0.1", port, servername: host, rejectUnauthorized: false })
        socket.on("error", () => {}).write(`GET /large HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
        return socket
      })
      const seen = [0]
      await vi.waitFor(
        () => {
          seen.unshift(queuedAt(port))
          expect(seen[0]).toBeGreaterThan(silent.length * 32_768)
          expect(seen[1]).toBe(seen[0])
        },
        { timeout: 60_000, interval: 200 },
      )
      expect(seen[0]).toBeLessThan(silent.length * 262_144)
      expect((await asked("api", { localAddress: "127.0.0.9" })).status).toBe(200)
      for (const socket of silent) socket.destroy()
    },
  )

  test.skipIf(!full).each([
    ["slow heads", ["-H"], true],
    ["slow bodies", ["-B", "-s", "4000"], true],
    // They look like clients that keep a connection open, which each proxy lets them do for a minute.
    ["slow readers", ["-X", "-k", "3"], false],
  ])("%s are disconnected, and don't keep others out", async (_title, mode, isCut) => {
    const args = "-c 400 -r 200 -i 3 -x 8 -l 40 -p 3 -u".split(" ")
    const attack = startProcess("slowhttptest", [...mode, ...args, `https://127.0.0.1:${port}/`])
    const state = { ended: false }
    void attack.exited.then(() => (state.ended = true))
    let honest = 0
    while (!state.ended) {
      // Another address than the attack's.
      expect((await asked("api", { localAddress: "127.0.0.9" })).status).toBe(200)
      honest += 1
    }
    expect(honest).toBeGreaterThan(3)
    const report = stripVTControlCharacters(attack.stdout())
    if (isCut) expect(report).toMatch(/closed:\s+[1-9]|Exit status:\s+No open connections left/)
  })
})
