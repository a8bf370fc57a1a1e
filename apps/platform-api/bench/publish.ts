// What publishing costs on PostgreSQL: how long a run takes until both of two replicas show its version, what readers lose
// while runs go on without a pause, and what the worker adds to start and memory.
import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { createBenchmarkTable, median, startPostgres, startProcess } from "@svc/testing"
import { z } from "zod"
import { sampleStacks } from "../stacks/index.ts"
import { app, compare, rate, residentMb, runBenchmark, start, stopStarted } from "./measure.ts"

const rounds = 9
const starts = 5
const table = createBenchmarkTable()
const folder = mkdtempSync(join(tmpdir(), "svc-publish-"))
const server = await startPostgres()
const env = {
  DATABASE_URL: server.url,
  SVC_DATA_DIR: folder,
  SVC_LOG_LEVEL: "info",
  SVC_REGISTRY_REQUESTS_PER_MINUTE: "0",
}

const createUser = async (): Promise<string> => {
  const args = ["src/main.ts", "user", "create", "--email", "bench@example.org"]
  const created = startProcess(process.execPath, args, { cwd: app, env })
  if ((await created.exited) !== 0) throw new Error(created.stderr())
  return z.object({ api_key: z.string() }).parse(JSON.parse(created.stdout())).api_key
}

/** Milliseconds until it answers, and megabytes when idle, with and without the worker in turns. */
const compareWorker = async (): Promise<void> => {
  const seen = { true: { ms: [] as number[], mb: [] as number[] }, false: { ms: [] as number[], mb: [] as number[] } }
  for (let turn = 0; turn < starts; turn++) {
    for (const worker of ["true", "false"] as const) {
      const { program, startMs } = await start("src/main.ts", { ...env, SVC_WORKER: worker })
      await setTimeout(1500)
      seen[worker].ms.push(startMs)
      seen[worker].mb.push(residentMb(program.pid))
      await stopStarted()
    }
  }
  const ratioOf = (what: "ms" | "mb") => median(seen.true[what]) / median(seen.false[what])
  table.add("start with the worker to start without", ratioOf("ms"), "x", { atMost: 1.1 })
  table.add("memory with the worker to memory without, idle", ratioOf("mb"), "x", { atMost: 1.1 })
}

const list = z.array(z.unknown())
const stack = z.looseObject({ entities: list, idls: list, instructions: list })

/** The samples' ASTs in one. */
const astOf = (samples: readonly string[]) => {
  const asts = samples.map((sample) => {
    const file = sampleStacks.find(({ name }) => name === sample)?.file
    if (file === undefined) throw new Error(`no sample stack ${sample}`)
    return stack.parse(JSON.parse(readFileSync(file, "utf8")))
  })
  return {
    ...asts[0],
    entities: asts.flatMap(({ entities }) => entities),
    idls: asts.flatMap(({ idls }) => idls),
    instructions: asts.flatMap(({ instructions }) => instructions),
  }
}

const kilobytesOf = (value: unknown): number => Math.round(JSON.stringify(value).length / 1000)

const measure = async (): Promise<void> => {
  const key = await createUser()
  const replicas = [await start("src/main.ts", env), await start("src/main.ts", env)]
  const [first] = replicas
  if (first === undefined) throw new Error("no replica")

  const post = async (path: string, body: object): Promise<number> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const answer = await fetch(`${first.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return z.object({ id: z.int() }).parse(await answer.json()).id
  }
  const shows = async (url: string, name: string, version: number): Promise<void> => {
    for (;;) {
      const answer = await fetch(`${url}/api/registry/${name}`)
      const shown = z.object({ version: z.int().optional() }).parse(await answer.json())
      if (shown.version === version) return
      await setTimeout(10)
    }
  }
  /** A stack and its runs: each publishes a further version, and gives the milliseconds until both replicas show it. */
  const publisher = async (name: string, ast: object) => {
    const url = { websocket_url: `wss://bench.example/${name}`, visibility: "public" }
    const spec_id = await post("/api/specs", { name, ...url })
    let version = 0
    return async (): Promise<number> => {
      version += 1
      const began = performance.now()
      const ast_payload = { ...ast, stack_name: `Bench${version}` }
      await post("/api/automation/runs", { workflow: "publish", spec_id, ast_payload })
      await Promise.all(replicas.map((replica) => shows(replica.url, name, version)))
      return performance.now() - began
    }
  }

  const large = astOf(["token-swaps", "stake-accounts"])
  for (const ast of [large, astOf(["name-service"])]) {
    const publish = await publisher(`bench-${kilobytesOf(ast)}`, ast)
    const times: number[] = []
    for (let round = 0; round < rounds; round++) times.push(await publish())
    const what = `publish run of ${kilobytesOf(ast)} kB, from the POST to both replicas`
    table.add(`${what}, median of ${rounds}`, median(times), "ms", { atMost: 2000 })
    table.add(`${what}, longest`, Math.max(...times), "ms", { atMost: 2000 })
  }

  await (
    await publisher("read", large)
  )()
  const schemaUrl = `${first.url}/api/registry/read/schema`
  const schema = Buffer.from(await (await fetch(schemaUrl)).arrayBuffer()).toString("base64")
  const bare = await start("bench/bare.ts", { DATABASE_URL: server.url, SCHEMA: schema, SLUG: "" }, "/plain")
  const ours = () => rate(schemaUrl)
  const plain = () => rate(`${bare.url}/schema`)
  await compare(table, "GET /api/registry/:name/schema, nothing else going on", { atLeast: 0.7 }, ours, plain)

  const publish = await publisher("written", large)
  const enough = new AbortController()
  let runs = 0
  const writing = (async () => {
    for (; !enough.signal.aborted; runs++) await publish()
  })()
  // Heard below, once the loads are over.
  writing.catch(() => {})
  // The peer's loads meet the same runs: what the machine does for them is in neither's favour.
  const began = performance.now()
  try {
    await compare(table, "the same while publish runs go on", { atLeast: 0.7 }, ours, plain)
  } finally {
    enough.abort()
    await writing
  }
  table.add("publish runs meanwhile", runs / ((performance.now() - began) / 1000), "a second")
  await stopStarted()
  await compareWorker()
}

await runBenchmark(table, { server, folder }, measure)
