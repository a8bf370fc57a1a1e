// The shipped Kubernetes overlay of more than one relay, without Kubernetes: cluster.ts says how. Needs root, kubectl and
// the Debian packages iproute2, nftables and nginx.
// @module-tag long
import assert from "node:assert/strict"
import { execFileSync, spawnSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { generateKeyPairSigner } from "@solana/kit"
import type { Secret } from "kubernetes-types/core/v1.js"
import { generateSigningKey } from "@svc/session-token"
import { full, redisProgram } from "@svc/testing"
import { memo, signTransaction } from "@svc/testing/solana"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"

import { folderOfFile } from "../../test/folder-of-file.ts"
import { type Cluster, databaseAddress, internet, openCluster } from "./cluster.ts"
import { noKubectl, renderKustomization } from "./kustomization.ts"
import {
  callers,
  callProxy,
  createProvider,
  hasPrograms,
  journeyEnd,
  paddedBodies,
  publishTransfers,
  reachedFrom,
  startDatabase,
  streamUrl,
} from "./namespaces.ts"

const infra = join(import.meta.dirname, "..")
const isMissing = redisProgram() === undefined || noKubectl || !hasPrograms("nft", "nginx", "openssl")
const deployments = ["docs-server", "relay", "platform-api"] as const

type Database = Awaited<ReturnType<typeof startDatabase>>
type Reply = { readonly status: number; readonly text: string }

/** The secrets that the page's commands create, from the files that its steps make. */
const createSecrets = (folder: string): readonly Secret[] => {
  const page = readFileSync(join(infra, "../docs/operations.md"), "utf8")
  for (const role of ["svc_owner", "svc_service"])
    writeFileSync(join(folder, `${role}.url`), `postgres://${role}@${databaseAddress}:5432/svc`)
  writeFileSync(join(folder, "relay-secrets.env"), `SVC_TRANSACTION_RPC_URL=http://${internet}:443\n`)
  const env = { ...process.env, PRIVATE_DIR: folder, SIGNING_KEY: join(folder, "signing-key.json") }
  const commands = page.match(/^kubectl -n svc create secret .*[^\\]$/gm) ?? []
  return commands.map(
    (command) =>
      JSON.parse(
        execFileSync("bash", ["-c", `${command} --dry-run=client --output=json`], {
          cwd: folder,
          env,
          encoding: "utf8",
        }),
      ) as Secret,
  )
}

describe.skipIf(isMissing && process.env["CI"] === undefined)("the Kubernetes overlay", () => {
  const folder = folderOfFile()
  let database: Database
  let cluster: Cluster
  // This process is the internet: the provider, which may keep a send waiting, and the callers of the ingress.
  const sent: { transaction: unknown; from: string }[] = []
  const signatures = new Map<unknown, string>()
  let held = Promise.withResolvers<void>()
  const provider = createProvider(async (method, [transaction], from) => {
    if (method !== "sendTransaction") return 123
    sent.push({ transaction, from })
    await held.promise
    return signatures.get(transaction)
  })
  let call: ReturnType<typeof callProxy>
  const ask = (service: string, ...rest: [path: string, body?: string, headers?: Readonly<Record<string, string>>]) =>
    call(`${service}.example.com`, ...rest)
  const { signUp, tokenFor, journey } = callers(ask)
  let authorization: Readonly<Record<string, string>>

  beforeAll(async () => {
    writeFileSync(join(folder, "signing-key.json"), await generateSigningKey())
    cluster = openCluster(folder, renderKustomization("overlays/scaled"), createSecrets(folder), full ? Infinity : 2)
    const { exec, namespaces, open, pod, publish, spare, start } = cluster
    database = await startDatabase(
      "create role svc_owner login",
      "create role svc_service login",
      "create database svc owner svc_owner",
    )
    await Promise.all([namespaces.start(pod("database"), database.script, /ready/), open()])
    provider.listen(443, internet)
    await once(provider, "listening")
    await exec(pod("platform-migrate-1"))
    const owner = `postgres://svc_owner@127.0.0.1:${database.port}/svc`
    const roles = ["--quiet", "--set=ON_ERROR_STOP=1", `--file=${join(infra, "database-roles.sql")}`, owner]
    assert.equal(spawnSync("psql", roles).status, 0)
    await exec(pod("platform-api-1"), publishTransfers.split(" "))
    await start(spare("valkey"))
    const startAll = (name: string) =>
      Promise.all(Array.from({ length: cluster.replicasOf(name) }, () => start(spare(name))))
    const others = Promise.all([startAll("relay"), startAll("docs-server")])
    others.catch(() => {})
    await startAll("platform-api")
    await publish()
    await others
    await publish()
    call = callProxy(pod("controller").at.get("outside") ?? "", 443)
    authorization = await signUp()
  })

  afterAll(async () => {
    await cluster?.close()
    await database?.stop()
    provider.close()
  })

  test("every pod reaches only what it needs, and is reached only by what needs it", async () => {
    const { namespaces, pod, running } = cluster
    const targets = [...deployments, "valkey"].flatMap((name) =>
      running(name).flatMap(({ ip, service, container }) =>
        (container?.ports ?? []).map((port) => ({
          at: ip,
          port: port.containerPort,
          name: port.name === "metrics" ? `metrics:${service}` : service,
        })),
      ),
    )
    const outside = [
      { at: databaseAddress, port: 5432, name: "database" },
      { at: internet, port: 443, name: "internet" },
    ]
    const from = ["controller", "prometheus", "stranger", "platform-migrate-1", "valkey-1"].map(pod)
    const reached = await Promise.all(
      [...from, ...deployments.flatMap(running)].map(async (one) => [
        one.name.replace(/-\d$/, ""),
        await reachedFrom(namespaces, one, [...targets.filter(({ at }) => at !== one.ip), ...outside]),
      ]),
    )
    expect(Object.fromEntries(reached)).toEqual({
      controller: ["database", "docs-server", "internet", "platform-api", "relay"],
      "docs-server": ["platform-api"],
      "platform-api": ["database", "valkey"],
      "platform-migrate": ["database"],
      prometheus: ["database", "internet", "metrics:docs-server", "metrics:platform-api", "metrics:relay"],
      relay: ["internet", "platform-api", "valkey"],
      stranger: ["database", "internet"],
      valkey: [],
    })
  })

  test("the journey passes through the ingress: page, agent, token, relay", async () => {
    expect(await journey()).toEqual(journeyEnd)
  })

  test("the largest body that a service accepts passes the ingress", async () => {
    const { status, text } = await ask("api", "/api/specs", `{}${" ".repeat(5_000_000)}`)
    expect([status, JSON.parse(text)]).toEqual([401, expect.objectContaining({ code: "missing-credentials" })])
  })

  /** Reads and POSTs of each size at each service. The POSTs to relay and platform have no token; the pages' server takes 64 KiB. */
  const burst = async (): Promise<void> => {
    const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    const asked = [
      ...["docs", "relay", "api"].map((service) => ["200", ask(service, "/livez")] as const),
      ["200", ask("docs", "/stacks/transfers.md")] as const,
      ...paddedBodies(list).map((body) => [body.length < 65_536 ? "200" : "413", ask("docs", "/mcp", body)] as const),
      ...paddedBodies().flatMap((body) => [
        ["401", ask("relay", "/transactions/v1/block-height", body)] as const,
        ["401", ask("api", "/ws/sessions", body)] as const,
      ]),
    ]
    const came = await Promise.all(
      asked.map(async ([wanted, reply], index) => {
        const { status, text } = await reply
        const isThere = index !== 3 || text.includes(streamUrl)
        return String(status) === wanted && isThere ? wanted : `${index}: ${status} ${text}`
      }),
    )
    expect(came).toEqual(asked.map(([wanted]) => wanted))
  }

  /** Sends that are at the provider, which keeps them waiting until `held` is resolved. */
  const sendAndHold = async () => {
    held = Promise.withResolvers<void>()
    const token = await tokenFor("transaction:send", authorization)
    const payer = await generateKeyPairSigner()
    const sends = await Promise.all(
      Array.from({ length: 3 }, async (_, index) => {
        const { base64, signature } = await signTransaction(payer, [memo(`${sent.length} ${index}`)])
        signatures.set(base64, signature)
        const reply = ask("relay", "/transactions/v1/send", JSON.stringify({ transaction: base64 }), token)
        return {
          transaction: base64,
          signature,
          reply: reply.catch((error: Error) => ({ status: 0, text: error.message })),
        }
      }),
    )
    const arrived = () => sends.map(({ transaction }) => sent.filter((one) => one.transaction === transaction))
    await expect.poll(() => arrived().map(({ length }) => length)).toEqual([1, 1, 1])
    return { sends, arrived }
  }

  test.each(Array.from({ length: full ? 20 : 1 }, (_, index) => index + 1))(
    "a rolling restart loses nothing, also sends that are under way (%i)",
    async () => {
      const { namespaces, publish, running, spare, start, stop } = cluster
      const rolled = full ? deployments : ["relay"]
      const old = rolled.map((name) => running(name)[0] ?? assert.fail(name))
      await Promise.all(rolled.map((name) => start(spare(name))))
      await publish()
      await burst()
      const told = Promise.withResolvers<void>()
      const endings = Promise.all(old.map((one) => stop(one, told.promise)))
      // They still get requests: not everybody knows yet that they end.
      await burst()
      const { sends, arrived } = await sendAndHold()
      await publish()
      told.resolve()
      await Promise.all(old.map(({ name }) => namespaces.of(name).waitFor(/"msg":"stopping"/)))
      held.resolve()
      await burst()
      for (const { reply, signature } of sends)
        expect(await reply).toEqual({ status: 200, text: JSON.stringify({ signature }) })
      expect(arrived().map(({ length }) => length)).toEqual([1, 1, 1])
      expect(await endings).toEqual(rolled.map(() => 0))
      await burst()
    },
  )

  test.each(Array.from({ length: full ? 20 : 1 }, (_, index) => index + 1))(
    "kill -9 of a pod of each loses only what was under way in it, and nothing is done twice (%i)",
    async (round) => {
      const { kill, publish, running, start } = cluster
      const sql = postgres(`postgres://postgres@127.0.0.1:${database.port}/svc`, { max: 2, onnotice: () => {} })
      const locked = Promise.withResolvers<void>()
      const release = Promise.withResolvers<void>()
      const lock = sql.begin(async (own) => {
        await own`lock table api_keys in share mode`
        locked.resolve()
        await release.promise
      })
      await locked.promise
      const names = Array.from({ length: 4 }, (_, index) => `key ${round} ${index}`)
      const mints = names.map((name) =>
        ask("api", "/api/agents/me/keys", JSON.stringify({ name }), authorization).catch((error: Error): Reply => ({
          status: 0,
          text: error.message,
        })),
      )
      await vi.waitFor(
        async () => {
          const waiting = await sql`select 1 from pg_stat_activity where wait_event_type = 'Lock'`
          expect(waiting.length).toBeGreaterThan(0)
        },
        { timeout: 20_000 },
      )
      const { sends, arrived } = await sendAndHold()
      const holder = arrived()[0]?.[0]?.from
      const victims = [
        running("relay").find(({ at }) => at.get("outside") === holder) ?? assert.fail(),
        running("platform-api")[0] ?? assert.fail(),
        running("docs-server")[0] ?? assert.fail(),
      ]
      await Promise.all(victims.map(kill))
      held.resolve()
      release.resolve()
      // They still get requests: not everybody knows yet that they are dead.
      await burst()
      await publish()
      await burst()
      await lock
      for (const { reply, signature } of sends) {
        const { status, text } = await reply
        const from = sent.find(({ transaction }) => signatures.get(transaction) === signature)?.from
        if (from === holder) expect([502, 504]).toContain(status)
        else expect([status, text]).toEqual([200, JSON.stringify({ signature })])
      }
      const minted = (await Promise.all(mints)).map(({ status }) => status)
      const listed = JSON.parse((await ask("api", "/api/agents/me/keys", undefined, authorization)).text) as unknown
      const found = names.map((name) => JSON.stringify(listed).split(`"${name}"`).length - 1)
      for (const [index, status] of minted.entries()) {
        if (status === 201) expect(found[index]).toBe(1)
        else expect([[502, 503].includes(status), (found[index] ?? 9) <= 1]).toEqual([true, true])
      }
      expect(arrived().map(({ length }) => length)).toEqual([1, 1, 1])
      await sql.end()
      if (!full) return
      await Promise.all(victims.map(start))
      await publish()
      await burst()
    },
  )
})
