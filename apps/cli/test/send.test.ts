import { randomBytes } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { base58 } from "@svc/common/base58"
import { beforeEach, describe, expect, test } from "vitest"
import { startRelaySetup } from "./relay-setup.ts"
import { type Reply, serve } from "./server.ts"
import { expectError, json, resultOf } from "./tool.ts"

const setup = await startRelaySetup()
beforeEach(() => {
  setup.platform.received.length = 0
})

test("send prints the signature first, waits for the result, and exits 0 once it landed; status finds it again", async () => {
  const { base64, signature } = await setup.wallet.transfer()
  const sent = await setup.svc(["send", "--stack", "transfers", "--json"], `${base64}\n`)
  expect(sent.stderr).toBe(`Signature: ${signature}\n`)
  expect(resultOf(sent)).toEqual({
    state: "landed",
    signature,
    slot: expect.stringMatching(/^\d+$/),
    commitment: expect.stringMatching(/^(confirmed|finalized)$/),
    err: null,
  })
  const where = ["--websocket-url", "wss://stack.example/transfers"]
  expect(resultOf(await setup.svc(["status", signature, ...where, "--json"]))).toMatchObject({
    status: { slot: expect.stringMatching(/^\d+$/), err: null },
    contextSlot: expect.stringMatching(/^\d+$/),
  })
})

test("the bytes may be a raw file, and the outcome is a table for people", async () => {
  const { base64, signature } = await setup.wallet.transfer()
  const file = join(setup.tool.home, "transaction.bin")
  await writeFile(file, Buffer.from(base64, "base64"))
  const sent = await setup.svc(["send", file, "--stack", "transfers"])
  expect(sent.code).toBe(0)
  expect(sent.stdout).toMatch(/^State +landed$/m)
  expect(sent.stdout).toContain(signature)
})

test("quoted or multi-line base64, with a byte order mark or in UTF-16, is the same transaction", async () => {
  const { base64 } = await setup.wallet.transfer()
  const lines = base64.replaceAll(/.{60}/g, "$&\r\n")
  const utf16 = Buffer.from(`\ufeff${lines}\r\n`, "utf16le")
  const forms = [`"${base64}"\n`, `'${base64}'`, `\ufeff${base64}\n`, lines, utf16, Buffer.from(utf16).swap16()]
  for (const [index, form] of forms.entries()) {
    const file = join(setup.tool.home, `form-${index}`)
    await writeFile(file, form)
    const tried = await setup.svc(["simulate", file, "--stack", "transfers", "--json"])
    expect([index, tried.code, tried.stderr]).toEqual([index, 0, ""])
  }
})

test("a failing transaction isn't submitted: the provider's reason and exit 1; simulate shows it before", async () => {
  const { base64, signature } = await setup.wallet.transfer(10_000_000_000n)
  const sent = await setup.svc(["send", "--stack", "transfers", "--json"], base64)
  expect(sent.code).toBe(1)
  expect(json(sent)).toMatchObject({
    state: "not-submitted",
    signature,
    error: {
      code: "simulation-failed",
      message: expect.stringMatching(/it needs 10,000,000,000 lamports, has 4,[\d,]+\. Nothing was stored or sent/),
      details: { err: { InstructionError: [0, { Custom: 1 }] }, logs: expect.any(Array) },
    },
    next: "Correct what the reason names (the payer's balance, the amount, the accounts), sign the payment again and send the new bytes",
  })
  expect(sent.stderr).toBe("")
  const tried = await setup.svc(["simulate", "--stack", "transfers", "--json"], base64)
  expect(tried.code).toBe(1)
  expect(json(tried)).toMatchObject({
    err: { InstructionError: [0, { Custom: 1 }] },
    unitsConsumed: expect.any(String),
  })
  const good = await setup.wallet.transfer()
  expect(await setup.svc(["simulate", "--stack", "transfers"], good.base64)).toMatchObject({ code: 0, stderr: "" })
})

test("a transaction that landed long ago is found, not sent again", async () => {
  const { base64, signature } = await setup.wallet.transfer()
  const args = ["send", "--stack", "transfers", "--json"]
  expect((await setup.svc(args, base64)).code).toBe(0)
  setup.skip(300_000)
  for (const options of [[], ["--last-valid-block-height", "1"]]) {
    const sent = await setup.svc([...args, ...options], base64)
    expect(sent).toMatchObject({ code: 0, stderr: "" })
    expect(json(sent)).toMatchObject({ state: "landed", signature, commitment: "finalized", err: null })
  }
})

test("a transaction with an unknown blockhash fails at once: nothing was stored or sent", async () => {
  const old = await setup.wallet.transfer(1_000_000n, "EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N")
  for (const options of [[], ["--id", "old"], ["--id", "old", "--last-valid-block-height", "999999999"]]) {
    const sent = await setup.svc(["send", "--stack", "transfers", "--json", ...options], old.base64)
    expect(sent).toMatchObject({ code: 1, stderr: "" })
    expect(json(sent)).toMatchObject({
      state: "not-submitted",
      error: {
        code: "blockhash-not-found",
        message: "Nothing was stored or sent. Sign again with a new blockhash",
      },
      next: `Sign the payment again and send the new bytes${options.length > 0 ? " with the same id" : ""}`,
    })
  }
  expect(json(await setup.svc(["payments", "list", "--json"]))).toEqual([])
})

test("a signature that isn't found is exit 3, and the text says that it may still land", async () => {
  const { signature } = await setup.wallet.transfer()
  const found = await setup.svc(["status", signature, "--stack", "transfers", "--json"])
  const env = { ...setup.env, SVC_RELAY_URL: "http://127.0.0.1:9" }
  const gone = await setup.tool.svc(["status", signature, "--stack", "transfers", "--json"], { env })
  expectError(gone, "unreachable", "", 3)
  const typo = await setup.svc(["status", `${signature}1`, "--stack", "transfers", "--json"])
  expectError(typo, "invalid_signature", "base58 of exactly 64 bytes", 2)
  expect(found.code).toBe(3)
  expect(json(found)).toMatchObject({ status: null })
  expect((await setup.svc(["status", signature, "--stack", "transfers"])).stdout).toMatch(
    /^Status +not found: it may still land$/m,
  )
})

describe("before anything is sent", () => {
  const refused = async (stdin: string, ...options: string[]) => {
    const ended = await setup.svc(["send", "--stack", "transfers", "--json", ...options], stdin)
    expect(ended.code).toBe(1)
    expect(ended.stderr).not.toContain("Signature:")
    return json(ended)
  }

  test("bytes that aren't a signed transaction are rejected with their own code, and no key is sent", async () => {
    const { base64 } = await setup.wallet.transfer()
    const bytes = Buffer.from(base64, "base64")
    const unsigned = Buffer.from(bytes).fill(0, 1, 65).toString("base64")
    const other = Buffer.from(bytes).fill(0x85, 0, 1).toString("base64")
    const large = Buffer.concat([bytes, Buffer.alloc(1200)]).toString("base64")
    for (const [text, code] of [
      ["", "no-input"],
      ["not a transaction", "invalid_base64"],
      ["AAAAAAAAAAAAAAAA", "invalid_transaction"],
      [unsigned, "unsigned_transaction"],
      [other, "invalid_transaction"],
      [large, "transaction_too_large"],
      ["A".repeat(100_000), "transaction_too_large"],
    ] as const) {
      expect(await refused(text)).toMatchObject({ code, error: expect.stringContaining("Next:") })
    }
    expect(setup.platform.received).toEqual([])
    expectError(await setup.svc(["send", "nowhere.bin", "--stack", "transfers", "--json"]), "unreadable-file")
  })

  test("a wallet's secret key in any format is never sent in place of a transaction, nor simulated", async () => {
    const secret = randomBytes(64)
    const file = join(setup.tool.home, "id.json")
    const forms = [
      JSON.stringify([...secret]),
      base58(secret),
      secret.toString("hex"),
      secret.toString("base64"),
      "word ".repeat(24),
    ]
    for (const form of forms) {
      await writeFile(file, form)
      for (const command of ["send", "simulate"]) {
        const ended = await setup.svc([command, file, "--stack", "transfers", "--json"])
        expect(json(ended)).toMatchObject({ code: expect.stringMatching(/^invalid_(?:base64|transaction)$/) })
        expect(json(ended)).toMatchObject({ error: expect.stringContaining("Nothing was sent.") })
        expect(ended.stdout + ended.stderr).not.toContain(form.slice(1, 20))
      }
    }
    expect(setup.platform.received).toEqual([])
  })

  test("a call with no stack, with two, or with a journal but no id is a usage error", async () => {
    const { base64 } = await setup.wallet.transfer()
    for (const options of [
      [],
      ["--stack", "a", "--websocket-url", "wss://a.example"],
      ["--stack", "a", "--journal", "somewhere"],
    ]) {
      expect(await setup.svc(["send", ...options], base64)).toMatchObject({ code: 2 })
    }
  })

  test("an unknown stack and an unavailable relay are reported", async () => {
    const { base64 } = await setup.wallet.transfer()
    const unknown = await setup.svc(["send", "--stack", "nothing", "--json"], base64)
    expectError(unknown, "stack-not-found", /^This run sent nothing\. There is no such stack/)
    const elsewhere = `${setup.env.SVC_RELAY_URL}/elsewhere`
    const other = await setup.svc(["send", "--stack", "transfers", "--relay-url", elsewhere, "--json"], base64)
    expectError(other, "not_found", /^This run sent nothing\. .* --relay-url/)
    const gone = await setup.svc(
      ["send", "--stack", "transfers", "--relay-url", "http://127.0.0.1:9", "--json"],
      base64,
    )
    expectError(gone, "unreachable", /^This run sent nothing\. The relay at .* can't be reached: .* --relay-url/)
  })
})

describe("a relay that accepts a transaction and then stops responding", () => {
  const silent = ({ target }: { readonly target: string }): Reply => {
    if (target.endsWith("/block-height")) return { body: { blockHeight: "100" } }
    if (target.endsWith("/signature-status")) return { body: { status: null, contextSlot: "200" } }
    if (target.endsWith("/latest-blockhash"))
      return { body: { blockhash: "any", contextSlot: "168", lastValidBlockHeight: "218" } }
    if (!target.endsWith("/simulate")) return { body: undefined }
    const empty = { logs: null, unitsConsumed: null, loadedAccountsDataSize: null, returnData: null }
    const rest = { innerInstructions: null, accounts: null, replacementBlockhash: null }
    return { body: { contextSlot: "200", err: null, ...empty, ...rest } }
  }

  const undecided = (signature: string, url: string) => ({
    state: "undecided",
    signature,
    lastError: expect.objectContaining({ code: expect.any(String) }),
    next: `svc status ${signature} --stack transfers --relay-url ${url}`,
  })

  test("after --timeout the outcome is undecided: exit 3, with the command that continues", async () => {
    const { base64, signature } = await setup.wallet.transfer()
    const { url } = await serve(silent)
    const options = ["--stack", "transfers", "--relay-url", url, "--timeout", "3", "--json"]
    const sent = await setup.svc(["send", ...options], base64)
    expect(sent.code).toBe(3)
    expect(json(sent)).toEqual(undecided(signature, url))
  })

  /** A transfer whose outcome stays unknown, and the arguments that send it. */
  const begin = async (file: string) => {
    const { base64, signature } = await setup.wallet.transfer()
    const { url } = await serve(silent)
    const path = join(setup.tool.home, file)
    await writeFile(path, base64)
    return { args: ["send", path, "--stack", "transfers", "--relay-url", url], signature, url }
  }

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "%s doesn't lose the transaction: the same, exit 3",
    async (signal) => {
      const { args, signature, url } = await begin("interrupted.base64")
      const child = await setup.tool.start([...args, "--json"], setup.env)
      await child.waitFor(/Signature:/)
      child.kill(signal)
      expect(await child.exited).toBe(3)
      expect(JSON.parse(child.stdout())).toEqual(undecided(signature, url))
    },
  )

  test("an outcome that can't be written goes to standard error too, with the same exit code", async () => {
    const { args, signature, url } = await begin("unwritten.base64")
    const state = `State: undecided. Signature: ${signature}. `
    const next = `Next: svc status ${signature} --stack transfers --relay-url ${url}`
    const slow = [...args, "--timeout", "3"]
    const [full, unread] = await Promise.all([
      setup.tool.inBash('"$0" "$@" > /dev/full', slow, setup.env),
      setup.tool.inBash('set -o pipefail; "$0" "$@" | true', slow, setup.env),
    ])
    for (const [ended, reason] of [
      [full, "ENOSPC"],
      [unread, "EPIPE"],
    ] as const) {
      expect(ended).toMatchObject({
        code: 3,
        stderr: expect.stringContaining(`can't be written (${reason}). ${state}`),
      })
      expect(ended.stderr).toContain(next)
    }
    const paid = await setup.wallet.transfer()
    const file = join(setup.tool.home, "landed.base64")
    await writeFile(file, paid.base64)
    const words = ["send", file, "--stack", "transfers"]
    const sent = await setup.tool.inBash('"$0" "$@" > /dev/full', words, setup.env)
    expect(sent).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`State: landed. Signature: ${paid.signature}. `),
    })
  })
})
