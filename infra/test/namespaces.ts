// Replicas of a shipped topology as processes in network namespaces of their own, on networks that are bridges. Needs root
// and Debian's iproute2.
import assert from "node:assert/strict"
import { execFile, execFileSync, spawnSync } from "node:child_process"
import { once } from "node:events"
import { realpathSync } from "node:fs"
import { createServer, type IncomingMessage } from "node:http"
import { request } from "node:https"
import { dirname } from "node:path"
import { json, text } from "node:stream/consumers"
import { promisify } from "node:util"
import { startPostgres, startProcess, type TestProcess } from "@svc/testing"

type Headers = Readonly<Record<string, string>>
export type Network = { readonly name: string; readonly prefix: string }
export type Replica = {
  readonly name: string
  readonly service: string
  /** Its address on each of its networks. */
  readonly at: ReadonlyMap<string, string>
}

/** Whether this process may make namespaces, and the machine has these programs. */
export const hasPrograms = (...names: readonly string[]): boolean =>
  process.getuid?.() === 0 &&
  ["ip", "bash", "mount", "psql", ...names].every((name) => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0)

/** Runs commands of `ip`, in a namespace or in this process's. */
const ip = (lines: readonly string[], namespace?: string): void => {
  try {
    const within = namespace === undefined ? [] : ["-n", namespace]
    execFileSync("ip", [...within, "-batch", "-"], { input: `${lines.join("\n")}\n`, stdio: "pipe" })
  } catch (cause) {
    throw new Error("this test needs root, iproute2 and a kernel that allows network namespaces", { cause })
  }
}

/** Gives each replica its address on its networks, from .10 upwards. */
export const place = (
  networks: readonly Network[],
  wanted: readonly { readonly name: string; readonly service: string; readonly on: readonly string[] }[],
): readonly Replica[] =>
  wanted.map(({ name, service, on }, index) => ({
    name,
    service,
    at: new Map(networks.filter((net) => on.includes(net.name)).map((net) => [net.name, `${net.prefix}${index + 10}`])),
  }))

/**
 * Makes the networks and a namespace for each replica. This process is the first host of the networks in `joined`, and the
 * router of a replica on one of those in `routed`.
 */
export const openNamespaces = (
  networks: readonly Network[],
  replicas: readonly Replica[],
  joined: readonly string[],
  routed: readonly string[],
) => {
  const prefix = `svc${process.pid}`
  const bridges = `${prefix}-bridges`
  const namespaceOf = ({ name }: Replica): string => `${prefix}-${name}`
  const running = new Map<string, TestProcess>()
  const close = async (): Promise<void> => {
    for (const child of running.values()) child.kill("SIGKILL")
    await Promise.allSettled([...running.values()].map(({ exited }) => exited))
    for (const name of [bridges, ...replicas.map(namespaceOf)]) spawnSync("ip", ["netns", "delete", name])
  }
  ip([bridges, ...replicas.map(namespaceOf)].map((name) => `netns add ${name}`))
  const lines = networks.flatMap((_, index) => [`link add br${index} type bridge`, `link set br${index} up`])
  /** The other end of a cable from a bridge, as it comes up. */
  const cable = (to: string, index: number, at: string, id: string): readonly string[] => {
    lines.push(`link add v${id} type veth peer name ${id} netns ${to}`, `link set v${id} master br${index} up`)
    return [`addr add ${at}/24 dev ${id}`, `link set ${id} up`]
  }
  const here = networks.flatMap(({ name, prefix: net }, index) =>
    joined.includes(name) ? cable("1", index, `${net}1`, `o${process.pid}-${index}`) : [],
  )
  const there = replicas.map((one, number) => [
    "link set lo up",
    ...networks.flatMap(({ name, prefix: net }, index) => {
      const at = one.at.get(name)
      if (at === undefined) return []
      const ends = cable(namespaceOf(one), index, at, `br${index}e${number}`)
      return routed.includes(name) ? [...ends, `route add default via ${net}1`] : ends
    }),
  ])
  ip(lines, bridges)
  ip(here)
  for (const [number, one] of replicas.entries()) ip(there[number] ?? [], namespaceOf(one))
  const inside = (one: Replica, script: string): [string, string[]] => [
    "ip",
    ["netns", "exec", namespaceOf(one), "bash", "--norc", "-c", script],
  ]
  return {
    /** The process that `start` has started last for a replica. */
    of: (name: string): TestProcess => running.get(name) ?? assert.fail(name),
    /** Runs a program on a replica's network, with this machine's files: cheaper than `run`. */
    net: async (one: Replica, program: string, ...args: readonly string[]): Promise<string> => {
      const within = [`--net=/run/netns/${namespaceOf(one)}`, program, ...args]
      return (await promisify(execFile)("nsenter", within)).stdout
    },
    run: async (one: Replica, script: string, env: Readonly<Record<string, string>> = {}): Promise<string> => {
      const [command, args] = inside(one, script)
      return (await promisify(execFile)(command, args, { env: { PATH: process.env["PATH"], ...env } })).stdout
    },
    start: async (
      one: Replica,
      script: string,
      ready: RegExp,
      env: Readonly<Record<string, string>> = {},
    ): Promise<TestProcess> => {
      const child = startProcess(...inside(one, script), { env })
      running.set(one.name, child)
      await child.waitFor(ready)
      return child
    },
    close,
  }
}
export type Namespaces = ReturnType<typeof openNamespaces>

/** The names of those targets that accept a connection from inside a replica, each once, in order. */
export const reachedFrom = async (
  { net }: Pick<Namespaces, "net">,
  from: Replica,
  targets: readonly { readonly at: string; readonly port: number | undefined; readonly name: string }[],
): Promise<readonly string[]> => {
  const tries = `for (const [at, port, name] of ${JSON.stringify(targets.map(({ at, port, name }) => [at, port, name]))}) {
    const socket = require("node:net").connect(port, at, () => { console.log(name); socket.destroy() })
    socket.on("error", () => {}).setTimeout(20_000, () => socket.destroy()) }`
  const lines = (await net(from, process.execPath, "-e", tries)).split("\n")
  return [...new Set(lines.filter((line) => line !== ""))].toSorted()
}

/** A PostgreSQL server, and the script by which a replica is it: at its own address, the standard port. */
export const startDatabase = async (...statements: readonly string[]) => {
  const postgres = await startPostgres()
  const made = spawnSync("psql", ["-q", ...statements.flatMap((statement) => ["-c", statement]), postgres.url])
  assert.equal(made.status, 0, String(made.stderr))
  const socket = `${dirname(realpathSync(`/proc/${await postgres.pid()}/cwd`))}/.s.PGSQL.${postgres.port}`
  const forward = `const net = require("node:net")
    net.createServer((one) => { const other = net.connect("${socket}"); one.pipe(other).pipe(one)
      one.on("error", () => other.destroy()); other.on("error", () => one.destroy()) })
      .listen(5432, "0.0.0.0", () => console.log("ready"))`
  return { ...postgres, script: `exec ${process.execPath} -e '${forward}'` }
}

/** An RPC provider whose answer depends on the call. */
export const createProvider = (
  answer: (method: string, params: readonly unknown[], from: string) => unknown = () => 123,
) =>
  createServer((incoming, response) => {
    const respond = async (): Promise<void> => {
      const call = (await json(incoming)) as { id: unknown; method: string; params: readonly unknown[] }
      const result = await answer(call.method, call.params, incoming.socket.remoteAddress ?? "")
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ jsonrpc: "2.0", id: call.id, result }))
    }
    // A caller may be killed.
    respond().catch(() => response.destroy())
  })

/** Sends requests from outside to the proxy at an address, each on a connection of its own. */
export const callProxy =
  (at: string, port: number) =>
  async (host: string, path: string, body?: string, headers: Headers = {}) => {
    const length =
      body === undefined ? {} : { "content-length": String(body.length), "content-type": "application/json" }
    const call = request({
      host: at,
      port,
      servername: host,
      rejectUnauthorized: false,
      agent: false,
      path,
      method: body === undefined ? "GET" : "POST",
      headers: { host, ...length, ...headers },
    }).end(body)
    const [response] = (await once(call, "response")) as [IncomingMessage]
    return { status: response.statusCode ?? 0, text: await text(response) }
  }

/** Bodies of 1, 10 and 100 KB: a JSON text and white space. */
export const paddedBodies = (content = "{}"): readonly string[] =>
  [1_024, 10_240, 102_400].map((size) => content.padEnd(size))

export const streamUrl = "wss://streams.example.com/transfers"
/** What publishes the stack whose streams have this URL. */
export const publishTransfers = `stack publish stacks/transfers.stack.json --name transfers --websocket-url ${streamUrl} --relay`

/** What the journey finds in a topology that works. */
export const journeyEnd = {
  isStackShown: true,
  height: { status: 200, text: '{"blockHeight":"123"}' },
  limits: ["shared", "shared"],
}

/** What callers of a topology do: a service is the first part of a host name. */
export const callers = (
  ask: (service: string, path: string, body?: string, headers?: Headers) => Promise<{ status: number; text: string }>,
) => {
  const signUp = async (): Promise<Headers> => {
    const { api_key: key } = JSON.parse((await ask("api", "/api/agents/signup", "{}")).text) as { api_key: string }
    return { authorization: `Bearer ${key}` }
  }
  const tokenFor = async (scope: string, authorization: Headers): Promise<Headers> => {
    const wanted = JSON.stringify({ websocket_url: streamUrl, scope })
    const { token } = JSON.parse((await ask("api", "/ws/sessions", wanted, authorization)).text) as { token: string }
    return { authorization: `Bearer ${token}` }
  }
  /** Page, agent, token, relay. */
  const journey = async () => {
    const page = await ask("docs", "/stacks/transfers.md")
    const token = await tokenFor("transaction:inspect", await signUp())
    const height = await ask("relay", "/transactions/v1/block-height", "{}", token)
    const healths = await Promise.all(["api", "relay"].map((service) => ask(service, "/health")))
    const limits = healths.map(({ text: health }): unknown => Object(JSON.parse(health)).limits)
    return { isStackShown: page.text.includes(streamUrl), height, limits }
  }
  return { signUp, tokenFor, journey }
}
