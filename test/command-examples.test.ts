// Every example of every command's help, run as it stands against all services.
// @module-tag long
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { z } from "zod"
import { commands } from "../apps/cli/src/commands.ts"
import { formatOf } from "../apps/cli/src/output/format.ts"
import { type Instance, startInstance } from "../scripts/running/instance.ts"
import { auctions } from "./journey/auctions.ts"
import { makeOwner, ownerKeyFile } from "./journey/owner.ts"
import { createShell, type Shell } from "./journey/shell.ts"
import { createWallet } from "@svc/testing/wallet"

const records = z.array(
  z.object({
    id: z.int(),
    status: z.string().optional(),
    current: z.boolean().optional(),
    key_class: z.string().optional(),
  }),
)

let instance: Instance
let shell: Shell
let wallet: Awaited<ReturnType<typeof createWallet>>
let signature: string
beforeAll(async () => {
  instance = await startInstance(undefined, makeOwner)
  const { apiUrl, docsUrl, relayUrl, chainUrl, folder } = instance
  shell = await createShell(join(folder, "examples"), () => {})
  const tool = join(shell.home, "npm/bin/svc")
  await mkdir(dirname(tool), { recursive: true })
  await mkdir(join(shell.home, ".config/fish/completions"), { recursive: true })
  const bundle = join(import.meta.dirname, "../apps/cli/dist/svc.mjs")
  await writeFile(tool, `#!/bin/sh\nexec "${process.execPath}" "${bundle}" "$@"\n`)
  await chmod(tool, 0o755)
  await shell.run(`svc init --api-url ${apiUrl} --docs-url ${docsUrl} --relay-url ${relayUrl}`)
  await shell.write("project/key.txt", await readFile(ownerKeyFile(folder), "utf8"))
  await shell.write("project/stack.json", JSON.stringify(auctions.first))

  wallet = await createWallet(chainUrl)
  await wallet.fund(2_000_000_000n)
})
afterAll(() => instance?.stop())

/** Two payments for the examples, signed when they're needed: a blockhash lives a minute, and all examples take longer. */
const signPayments = async () => {
  const [first, second] = [await wallet.signTransfer(1_000_000n), await wallet.signTransfer(2_000_000n)]
  await writeFile(join(shell.home, "project/transaction.bin"), Buffer.from(first.wire, "base64"))
  await shell.write("project/transaction.base64", second.wire)
  signature = second.signature
}

/** The newest record of a list for which this is so. */
const idIn = async (command: string, isMeant: (one: z.infer<typeof records>[number]) => boolean = () => true) => {
  const found = records.parse(await shell.json(`svc ${command} --json`)).filter(isMeant)
  return String(Math.max(...found.map(({ id }) => id)))
}

/** What an example names and a test has elsewhere: hosts, and the ids of records. */
const adapted = async (example: string): Promise<string> => {
  const { apiUrl, docsUrl, streamUrl } = instance
  const otherKey = () =>
    idIn(
      "keys list",
      ({ status, current, key_class: kind }) => kind === "secret" && status === "active" && current !== true,
    )
  const ids: readonly (readonly [RegExp, () => Promise<string>])[] = [
    [/(?<=svc builds )7\b/, () => idIn("builds")],
    [/(?<=svc deployments \w+ )3\b/, () => idIn("deployments")],
    [/(?<=svc runs )12\b/, () => idIn("runs")],
    [/(?<=svc runs resume )13\b/, () => idIn("runs", ({ status }) => status === "waiting")],
    [/(?<=svc keys \w+ )[78]\b/, otherKey],
  ]
  let command = example
    .replaceAll("wss://streams.example/transfers", `${streamUrl}/transfers`)
    .replaceAll("https://api.example", apiUrl)
    .replaceAll("https://docs.example", docsUrl)
    // The only stack here that has two versions.
    .replace("diff transfers", "diff my-stack")
    .replace("svc use api.example", `svc use ${new URL(apiUrl).host}`)
    .replace("SIGNATURE", signature)
  for (const [pattern, find] of ids) if (pattern.test(command)) command = command.replace(pattern, await find())
  return command
}

// What has to come first, or last; the rest runs in the order of the help.
const first = ["svc auth signup", "svc auth login", "svc keys mint", "svc push", "svc runs"]
const last = ["svc status", "svc payments", "svc keys revoke", "svc auth logout"]
const place = (example: string): number => {
  const early = first.findIndex((start) => example.startsWith(start))
  return early === -1 ? 100 + last.findIndex((start) => example.startsWith(start)) : early
}
const examples = commands.flatMap((command) => command.examples).toSorted((a, b) => place(a) - place(b))

test("every example of every help works: exit code 0, and with --json one document", { timeout: 300_000 }, async () => {
  expect(commands.filter((command) => command.examples.length === 0)).toEqual([])
  const failed: unknown[] = []
  for (const example of examples) {
    if (example.includes("transaction.b")) await signPayments()
    const command = await adapted(example)
    if (example === "svc runs") {
      await shell.write("project/second.json", JSON.stringify(auctions.breaking))
      await shell.run("svc push second.json --name my-stack")
    }
    if (/ --watch|^svc watch (?!.*--once)/.test(command)) {
      const child = shell.start(command)
      await child.waitFor(/./)
      child.kill("SIGINT")
      if ((await child.exited) !== 0) failed.push({ command, stderr: child.stderr() })
      continue
    }
    const { code, stdout, stderr } = await shell.run(command)
    if (code !== 0) failed.push({ command, code, stdout, stderr })
    else if (formatOf(command.split(" ")) !== "text") {
      const isLines = command.startsWith("svc watch")
      for (const document of isLines ? stdout.trimEnd().split("\n").filter(Boolean) : [stdout]) JSON.parse(document)
    }
  }
  expect(failed).toEqual([])
})
