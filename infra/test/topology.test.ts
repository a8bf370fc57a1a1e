// compose.yaml with compose.scaled.yaml as shipped, without a container engine: each replica is a process in its own
// network namespace, with the names, networks, secrets and environment of its service. Needs root and Debian's iproute2.
// @module-tag long
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import type { AddressInfo } from "node:net"
import { dirname, join } from "node:path"
import { redisProgram } from "@svc/testing"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"

import { folderOfFile } from "../../test/folder-of-file.ts"
import { readCompose } from "./compose-file.ts"
import {
  callers,
  callProxy,
  createProvider,
  hasPrograms,
  journeyEnd,
  type Namespaces,
  openNamespaces,
  paddedBodies,
  place,
  publishTransfers,
  reachedFrom,
  type Replica,
  startDatabase,
} from "./namespaces.ts"
import { image } from "./settings.ts"

const root = join(import.meta.dirname, "../..")
const [base, scaled] = [readCompose("compose.yaml"), readCompose("compose.scaled.yaml")]
const networks = { ...base.networks, ...scaled.networks }
const services = new Map(
  [...new Set([...Object.keys(base.services), ...Object.keys(scaled.services)])].map((name) => {
    const [one = {}, over = {}] = [base.services[name], scaled.services[name]]
    const both = { environment: { ...one.environment, ...over.environment }, deploy: { ...one.deploy, ...over.deploy } }
    return [name, { ...one, ...over, ...both, networks: [...(one.networks ?? []), ...(over.networks ?? [])] }] as const
  }),
)
const ports: Readonly<Record<string, number>> = {
  postgres: 5432,
  valkey: 6379,
  proxy: 8443,
  "docs-server": 4001,
  relay: 4002,
  "platform-api": 4003,
}

const subnets = Object.entries(networks).map(([name, { ipam }], index) => {
  const subnet = ipam?.config[0]?.subnet ?? `172.30.${72 + index}.0/24`
  return { name, prefix: subnet.replace(/0\/24$/, "") }
})
const open = Object.keys(networks).filter((name) => networks[name]?.internal !== true)
const replicas = place(
  subnets,
  [...services]
    .filter(([, { networks: on }]) => on.length > 0)
    .flatMap(([service, { networks: on, deploy }]) =>
      Array.from({ length: deploy.replicas ?? 1 }, (_, index) => ({ name: `${service}-${index + 1}`, service, on })),
    ),
)
const replica = (name: string): Replica => replicas.find((one) => one.name === name) ?? assert.fail(name)
/** Where one replica reaches another, like an engine's names: on a network that both share. */
const addressFor = (from: Replica, to: Replica): string | undefined =>
  [...to.at].find(([network]) => from.at.has(network))?.[1]

const isMissing = redisProgram() === undefined || !hasPrograms("caddy")

describe.skipIf(isMissing && process.env["CI"] === undefined)("the shipped topology", { timeout: 60_000 }, () => {
  const folder = folderOfFile()
  let postgres: Awaited<ReturnType<typeof startDatabase>>
  let namespaces: Namespaces
  // This process is the internet: the provider, and the proxy's callers.
  const provider = createProvider()
  const outside = subnets.find(({ name }) => name === "outside") ?? assert.fail()
  let providerUrl: string

  /** The script as it runs inside a replica, with only its own names and secrets. */
  const inside = (one: Replica, script: string): string => {
    const secrets = (services.get(one.service)?.secrets ?? []).map(
      (secret) => `cp ${folder}/${secret} /run/secrets/${secret} && `,
    )
    const mounts = `mount --bind ${folder}/hosts-${one.name} /etc/hosts && mount -t tmpfs tmpfs /run && mkdir /run/secrets`
    return `${mounts} && ${secrets.join("")}${script}`
  }
  const environmentOf = ({ service, name }: Replica): Record<string, string> => ({
    PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
    ...image,
    ...services.get(service)?.environment,
    SVC_DATA_DIR: join(folder, name),
    ...(service === "proxy" && { XDG_DATA_HOME: join(folder, "caddy"), XDG_CONFIG_HOME: folder }),
    // What an operator writes into relay.env.
    ...(service === "relay" && { SVC_SESSION_AUDIENCE: "transfers", SVC_TRANSACTION_RPC_URL: providerUrl }),
  })
  const run = async (name: string, script: string): Promise<string> => {
    const one = replica(name)
    return namespaces.run(one, inside(one, script), environmentOf(one))
  }
  const app = (service: string, args = ""): string => {
    const folderOf = service === "migrate" ? "platform-api" : service
    const files = (services.get(service)?.env_file ?? []).map((file) => `--env-file=${root}/infra/${file}.example `)
    return `cd ${root}/apps/${folderOf} && exec node ${files.join("")}src/main.ts ${args}`
  }
  const start = async (name: string, script: string, ready: RegExp): Promise<void> => {
    const one = replica(name)
    await namespaces.start(one, inside(one, script), ready, environmentOf(one))
  }
  const startApp = (name: string): Promise<void> => start(name, app(replica(name).service), /"msg":"listening"/)

  beforeAll(async () => {
    namespaces = openNamespaces(subnets, replicas, open, open)
    for (const one of replicas) {
      const hosts = replicas.map((other) => `${addressFor(one, other) ?? "#"} ${other.service}\n`)
      writeFileSync(join(folder, `hosts-${one.name}`), `127.0.0.1 localhost\n${hosts.join("")}`)
      mkdirSync(join(folder, one.name))
    }
    provider.listen(0, `${outside.prefix}1`)
    await once(provider, "listening")
    providerUrl = `http://${outside.prefix}1:${(provider.address() as AddressInfo).port}`

    // The image's server has one superuser, the owner.
    postgres = await startDatabase("create role svc_owner superuser login", "create database svc owner svc_owner")
    const [, ...valkey] = services.get("valkey")?.command ?? []
    const valkeyArgs = valkey.map((arg) => `'${arg}'`).join(" ")
    await Promise.all([
      start("postgres-1", postgres.script, /ready/),
      start("valkey-1", `exec ${redisProgram() ?? "redis-server"} ${valkeyArgs} --dir ${folder}`, /Ready to accept/),
    ])
    writeFileSync(
      join(folder, "session-signing-key"),
      execFileSync("node", ["src/main.ts", "session-key", "generate"], { cwd: join(root, "apps/platform-api") }),
    )
    await run("migrate-1", app("migrate", (services.get("migrate")?.command ?? []).join(" ")))
    const [script = ""] = services.get("roles")?.command ?? []
    const roles = script.replaceAll("$$", "$").replace("/database-roles.sql", join(root, "infra/database-roles.sql"))
    await run("roles-1", roles)
    await run("platform-api-1", app("platform-api", publishTransfers))
    const named = replicas.filter(({ service }) => ["docs-server", "relay", "platform-api"].includes(service))
    await Promise.all(named.map(({ name }) => startApp(name)))
    await start(
      "proxy-1",
      `exec caddy run --config ${root}/infra/Caddyfile --adapter caddyfile`,
      /serving initial configuration/,
    )
    await vi.waitFor(async () => assert.equal((await ask("relay", "/readyz")).status, 200), {
      timeout: 30_000,
      interval: 200,
    })
  })

  afterAll(async () => {
    await namespaces?.close()
    await postgres?.stop()
    provider.close()
  })

  const call = callProxy(replica("proxy-1").at.get("outside") ?? assert.fail(), 8443)
  const ask = (service: string, ...rest: [path: string, body?: string, headers?: Readonly<Record<string, string>>]) =>
    call(`${service}.localhost`, ...rest)

  test("every service reaches only those of its networks, and only proxy and relay reach the internet", async () => {
    const servers = replicas.filter(({ service }) => service in ports)
    const provides = { at: `${outside.prefix}1`, port: Number(new URL(providerUrl).port), name: "internet" }
    const reached = await Promise.all(
      servers.map(async (from) => {
        const targets = servers
          .filter(({ service }) => service !== from.service)
          .flatMap(({ at, service }) => [...at.values()].map((to) => ({ at: to, port: ports[service], name: service })))
        return [from.name, await reachedFrom(namespaces, from, [...targets, provides])] as const
      }),
    )
    expect(Object.fromEntries(reached)).toEqual({
      "docs-server-1": ["platform-api", "proxy", "relay"],
      "platform-api-1": ["docs-server", "postgres", "proxy", "relay", "valkey"],
      "platform-api-2": ["docs-server", "postgres", "proxy", "relay", "valkey"],
      "postgres-1": ["platform-api"],
      "proxy-1": ["docs-server", "internet", "platform-api", "relay"],
      "relay-1": ["docs-server", "internet", "platform-api", "proxy", "valkey"],
      "relay-2": ["docs-server", "internet", "platform-api", "proxy", "valkey"],
      "valkey-1": ["platform-api", "relay"],
    })
  })

  test("the journey passes through the proxy: page, agent, token, relay", async () => {
    expect(await callers(ask).journey()).toEqual(journeyEnd)
  })

  test("while a replica stops, is dead and starts again, no read or POST is lost", async () => {
    const paths = { relay: "/transactions/v1/block-height", api: "/ws/sessions" }
    const bodies = [undefined, ...paddedBodies()]
    const burst = async (): Promise<void> => {
      const asked = Object.entries(paths).flatMap(([service, path]) =>
        bodies.map((body) => ask(service, body === undefined ? "/livez" : path, body)),
      )
      // The POSTs have no token.
      const wanted = bodies.map((body) => (body === undefined ? 200 : 401))
      const came = (await Promise.all(asked)).map(({ status, text }) => (status < 500 ? status : `${status} ${text}`))
      expect(came).toEqual([...wanted, ...wanted])
    }
    for (const [name, signal] of Object.entries({
      "relay-1": "SIGTERM",
      "relay-2": "SIGKILL",
      "platform-api-1": "SIGTERM",
      "platform-api-2": "SIGKILL",
    } as const)) {
      const child = namespaces.of(name)
      await burst()
      child.kill(signal)
      if (signal === "SIGTERM") await burst()
      expect(await child.exited).toBe(signal === "SIGTERM" ? 0 : signal)
      await burst()
      await Promise.all([startApp(name), burst()])
    }
    await burst()
  })
})
