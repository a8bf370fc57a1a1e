import { execFileSync, spawnSync } from "node:child_process"
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { beforeAll, expect, test } from "vitest"
import * as client from "../src/index.ts"
import { folderOfFile } from "../../../test/folder-of-file.ts"
import { nodes } from "../../../test/own-node.ts"
import { bundle, bundled } from "../scripts/bundle.ts"
import { signedMemo } from "./transactions.ts"

const library = join(import.meta.dirname, "..")
const folder = folderOfFile()
beforeAll(async () => {
  execFileSync(process.execPath, [join(library, "scripts/build.ts")])
  await writeFile(join(folder, "package.json"), '{"type":"module"}')
  const tarball = join(library, "dist/svc-client.tgz")
  execFileSync("npm", ["install", tarball, "--no-audit", "--no-fund", "--offline", "--loglevel", "error"], {
    cwd: folder,
  })
})

const program = `
import * as client from "svc-client"
import { fileStore } from "svc-client/node"
import { createServer } from "node:http"

const transaction = ${JSON.stringify((await signedMemo()).base64)}
const answers = {
  "/ws/sessions": { token: "t", expires_at: 0, token_type: "Bearer", scope: "" },
  "/transactions/v1/send": undefined,
  "/transactions/v1/signature-status": {
    status: { slot: "312", confirmations: null, confirmationStatus: "finalized", err: null }, contextSlot: "330" },
  "/transactions/v1/latest-blockhash": { blockhash: "x", contextSlot: "312", lastValidBlockHeight: "400" },
  "/transactions/v1/block-height": { blockHeight: "300" },
}
const server = createServer(async (request, response) => {
  for await (const _ of request);
  if (request.url === "/transactions/v1/send") request.socket.destroy()
  else response.end(JSON.stringify(answers[request.url]))
})
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
const url = "http://127.0.0.1:" + server.address().port
const platform = client.createPlatform({ apiUrl: url, key: "svc_ak_x" })
const session = client.createSession({ platform, websocketUrl: "wss://s.example", scope: "transaction:send" })
const relay = client.createRelay({ relayUrl: url, session })
const outcome = await client.submit(relay, { transaction, lastValidBlockHeight: 460n })
const journal = client.createJournal({ relay, store: fileStore(process.argv[2]) })
const paid = await journal.submitOnce("invoice-42", transaction)
const record = await journal.get("invoice-42")
server.close()
server.closeAllConnections()
console.log(JSON.stringify([outcome.state, String(outcome.slot), paid.state, record.state, record.version]))
`

test.each(nodes)("installed as a package it sends, settles and keeps a journal, in %s", async (node) => {
  await writeFile(join(folder, "program.js"), program)
  const { stdout, stderr, status } = spawnSync(node, ["program.js", `payments-${nodes.indexOf(node)}`], {
    cwd: folder,
    encoding: "utf8",
  })
  expect([stderr, status]).toEqual(["", 0])
  expect(JSON.parse(stdout)).toEqual(["landed", "312", "landed", "landed", 2])
})

test("editors get its types: a program against them compiles, and a wrong one doesn't", async () => {
  const good = `
import { createPlatform, createRelay, createRelayTransport, createSession, submit, SvcError, type Outcome } from "svc-client"
import { createSolanaRpcFromTransport } from "@solana/kit"
import { createJournal, type Store } from "svc-client"
import { fileStore } from "svc-client/node"
declare const env: { readonly KEY: string | undefined; readonly signal: AbortSignal | undefined }
const platform = createPlatform({ apiUrl: "https://api.example", key: env.KEY })
for await (const { kind, verdict } of platform.registry.changes({ after: 1, signal: env.signal })) console.log(kind, verdict)
const stacks: readonly { readonly name: string }[] = await platform.registry.list({ include: "schema" })
const scope = ["transaction:inspect", "transaction:send"]
const relay = createRelay({ relayUrl: "https://relay.example", session: createSession({ platform, websocketUrl: "wss://s.example", scope }) })
const { lastValidBlockHeight } = await relay.latestBlockhash()
const outcome: Outcome = await submit(relay, { transaction: new Uint8Array(), lastValidBlockHeight })
if (outcome.state === "not-submitted") throw outcome.error satisfies SvcError
if (outcome.state === "landed") console.log(outcome.slot + 1n, outcome.err)
const rpc = createSolanaRpcFromTransport(createRelayTransport(relay))
const store: Store = fileStore("payments")
const paid = await createJournal({ relay, store }).submitOnce("a", ({ blockhash }) => new TextEncoder().encode(blockhash))
if (paid.state === "undecided") throw paid.lastError
console.log(rpc, stacks, paid.signature)
`
  await mkdir(join(folder, "node_modules/@solana"), { recursive: true })
  await symlink(join(library, "node_modules/@solana/kit"), join(folder, "node_modules/@solana/kit"))
  await writeFile(join(folder, "good.ts"), good)
  await writeFile(join(folder, "bad.ts"), good.replace("outcome.slot + 1n", "outcome.slot + 1"))
  // Both at once: reading the types of kit takes most of the time.
  const options = [
    "--noEmit",
    "--strict",
    "--exactOptionalPropertyTypes",
    "--target",
    "es2022",
    "--module",
    "nodenext",
    "--lib",
    "es2022,dom",
  ]
  const tsc = join(library, "node_modules/.bin/tsc")
  const args = [...options, "--types", "", "--pretty", "false", "good.ts", "bad.ts"]
  const { stdout } = spawnSync(tsc, args, { cwd: folder, encoding: "utf8" })
  expect(stdout.trim()).toMatch(/^bad\.ts\(.*\): error TS2365: .*$/)
})

test("its types name only what is beside them, and nothing that TypeScript 5.0 lacks", async () => {
  const inside = join(folder, "node_modules/svc-client")
  const files = await readdir(inside)
  for (const file of files.filter((name) => name.endsWith(".d.ts"))) {
    const text = await readFile(join(inside, file), "utf8")
    expect(text, file).not.toContain("Uint8Array<")
    for (const [, name] of text.matchAll(/ from "\.\/(.*)\.js"/g)) expect(files, file).toContain(`${name}.d.ts`)
  }
  // For resolvers that don't read exports.
  expect(files).toContain(join(JSON.parse(await readFile(join(inside, "package.json"), "utf8")).main))
})

test("every exported function and class is documented, and callable ones have an example", async () => {
  const files = (await readdir(join(folder, "node_modules/svc-client"))).filter((name) => name.endsWith(".d.ts"))
  const texts = await Promise.all(files.map((file) => readFile(join(folder, "node_modules/svc-client", file), "utf8")))
  const all = texts.join("\n")
  for (const name of [...Object.keys(client), "fileStore"]) {
    const documented = new RegExp(
      `/\\*\\*(?:(?!\\*/)[^])*@example(?:(?!\\*/)[^])*\\*/\\nexport declare (?:const|class) ${name}\\b`,
    )
    expect(all).toMatch(documented)
  }
})

test("minified and gzipped it is under 12 kB, its Node part under 3 kB, and its lazy part under 3.5 kB", async () => {
  await bundle(folder, { minify: true })
  const sizeOf = async (file: string) => gzipSync(await readFile(join(folder, file)), { level: 9 }).length
  const goals: Readonly<Record<string, number>> = { "svc-client.js": 12_000, "node.js": 3000 }
  for (const file of bundled) expect(await sizeOf(file), file).toBeLessThan(goals[file] ?? 3500)
})
