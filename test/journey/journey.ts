// What an agent does from knowing one address to a confirmed transfer and a rotated key, with the clients that agents use.
// Every step checks what it claims: `pnpm demo` shows the journey to people, the tests run the same.
import { strict as assert } from "node:assert"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"

import type { Instance } from "../../scripts/instance.ts"
import { connectDocs } from "./docs.ts"
import {
  createRelayClient,
  errorShape,
  heightShape,
  latestShape,
  sentShape,
  simulationShape,
  statusShape,
} from "./relay.ts"
import * as shape from "./shapes.ts"
import { createShell } from "./shell.ts"
import { createWallet } from "./wallet.ts"

/** Runs one step. `show` takes lines for people: what is run, and what came of it; never a key or a token. */
export type RunStep = <T>(
  step: { readonly does: string; readonly proves: string },
  run: (show: (line: string) => void) => Promise<T>,
) => Promise<T>

const sol = 1_000_000_000n
const tokenMs = 300_000
/** A verifier's clock may be off by this much. */
const leewayMs = 5000

export const journey = async (instance: Instance, step: RunStep): Promise<void> => {
  const { docsUrl, apiUrl, relayUrl, chainUrl } = instance
  let show: (line: string) => void = () => {}
  const take: RunStep = (what, run) =>
    step(what, (told) => {
      show = told
      return run(told)
    })
  const svc = await createShell(join(instance.folder, "agent"), (command) => show(`$ ${command}`))

  await take(
    {
      does: "The agent reads agent.md and runs its first commands",
      proves: "one address is enough: the tool and the skills come from it, none of it from a package registry",
    },
    async () => {
      const page = await (await fetch(`${docsUrl}/agent.md`)).text()
      show(`GET ${docsUrl}/agent.md`)
      const [init = "", install = ""] = (/```console\n(.*?)```/s.exec(page)?.[1] ?? "").split("\n")
      assert.match(init, /^npx .*\/cli\/svc\.tgz init /)
      assert.match(install, /^npm install /)
      const { code, stdout, stderr } = await svc.run(`${init} --json`)
      assert.equal(code, 0, stderr)
      const { files } = shape.init.parse(JSON.parse(stdout))
      assert.deepEqual(
        files.map(({ result }) => result),
        ["created", "created", "created"],
      )
      for (const { path } of files) show(`created ${path}`)
      const installed = await svc.run(install)
      assert.equal(installed.code, 0, installed.stderr)
    },
  )

  const { slug, firstKey } = await take(
    {
      does: "The agent signs itself up",
      proves: "no human, no form; the key goes from the answer into a file that only its owner can read",
    },
    async () => {
      const answer = await svc.json("svc auth signup --name 'Scout' --json")
      const identity = shape.identity.parse(answer)
      show(`${identity.slug}, "${identity.display_name}", ${identity.status}, key ${identity.key_hint}`)
      assert.equal(identity.api_url, apiUrl)
      const kept = shape.credentials.parse(JSON.parse(await svc.read("config/svc/credentials.json")))[apiUrl]
      assert.ok(kept !== undefined && /^svc_ak_[0-9A-Za-z]{38}$/.test(kept.api_key))
      assert.ok(!JSON.stringify(answer).includes(kept.api_key))
      return { slug: identity.slug, firstKey: kept.api_key }
    },
  )

  await take(
    {
      does: "An MCP client searches the documentation for how to mint a token, and reads the page",
      proves: "a question in an agent's own words finds the page that answers it, for this copy of the service",
    },
    async () => {
      const docs = await connectDocs(docsUrl)
      try {
        show(`MCP ${docs.protocol} at ${docsUrl}/mcp, tools: ${docs.tools.join(", ")}`)
        const results = await docs.search("how do I mint a session token")
        show(`search_docs "how do I mint a session token" -> ${results.map((result) => result.slug).join(", ")}`)
        assert.equal(results[0]?.slug, "sessions")
        const { title, content } = await docs.fetch("sessions")
        assert.ok(content.includes(`POST ${apiUrl}/ws/sessions`))
        show(`fetch_page sessions -> "${title}", ${content.length} characters`)
      } finally {
        await docs.close()
      }
    },
  )

  const stackUrl = await take(
    {
      does: "The agent reads the registry",
      proves: "schemas are read, not guessed: entities, fields and types of every public stack, without a key",
    },
    async () => {
      const { registry } = shape.registry.parse(await svc.json("svc explore --json"))
      for (const { name, entities } of registry) show(`${name}: ${entities.join(", ")}`)
      const entity = shape.entity.parse(await svc.json("svc explore transfers SolTransfer --json"))
      assert.equal(entity.name, "SolTransfer")
      show(entity.fields.map(({ path, rust_type }) => `${path}: ${rust_type}`).join(", "))
      const transfers = registry.find(({ name }) => name === "transfers")
      assert.ok(transfers !== undefined)
      return transfers.websocket_url
    },
  )

  const token = await take(
    {
      does: "The agent mints a session token",
      proves: "the relay never sees the key: it gets a token for one stack, two scopes and five minutes",
    },
    async () => {
      const session = shape.session.parse(
        await svc.json(`svc session ${stackUrl} --scope 'transaction:inspect transaction:send' --json`),
      )
      const claims = shape.claimsOf(session.token)
      show(`sub ${claims.sub}, aud ${claims.aud}, scope "${claims.scope}", ${claims.exp - claims.iat} s`)
      assert.deepEqual([claims.sub, claims.aud, claims.exp - claims.iat], [`agent:${slug}`, "transfers", 300])
      assert.deepEqual([session.scope, session.expires_at], [claims.scope, claims.exp])
      return session.token
    },
  )
  const relay = createRelayClient(relayUrl, token)

  const { wallet, wire, signature } = await take(
    {
      does: "@solana/kit makes an account, builds a transfer of 1 SOL and signs it",
      proves: "signing happens at the agent's: no service ever holds a signing key",
    },
    async () => {
      const made = await createWallet(chainUrl)
      await made.fund(2n * sol)
      assert.equal(await made.balance(), 2n * sol)
      show(`account ${made.address} with 2 SOL from the local chain's faucet`)
      const latest = await relay("latest-blockhash", {}, latestShape)
      show(`POST ${relayUrl}/transactions/v1/latest-blockhash -> good until block ${latest.lastValidBlockHeight}`)
      const signed = await made.signTransfer(sol, latest)
      show(`signed: ${Buffer.from(signed.wire, "base64").length} bytes`)
      return { wallet: made, ...signed }
    },
  )

  await take(
    {
      does: "The relay simulates the transfer",
      proves: "a program's error shows before anything is paid; u64 values come as exact strings",
    },
    async () => {
      const { unitsConsumed } = await relay("simulate", { transaction: wire, sigVerify: true }, simulationShape)
      show(`POST ${relayUrl}/transactions/v1/simulate -> no error, ${unitsConsumed} compute units`)
      assert.equal(await wallet.recipientBalance(), 0n)
    },
  )

  await take(
    {
      does: "The relay sends it, once",
      proves: "the provider's answer is the signature that the relay had derived before it asked",
    },
    async () => {
      const sent = await relay("send", { transaction: wire }, sentShape)
      assert.equal(sent.signature, signature)
      show(`POST ${relayUrl}/transactions/v1/send -> ${signature.slice(0, 8)}…`)
    },
  )

  await take(
    {
      does: "The local chain confirms it",
      proves: "a real Solana virtual machine ran it: the recipient has the lamports, the payer paid the fee",
    },
    async () => {
      const deadline = performance.now() + 60_000
      for (;;) {
        const { status } = await relay("signature-status", { signature }, statusShape)
        if (status !== null && status.confirmationStatus !== "processed") {
          show(`signature-status -> ${status.confirmationStatus} in slot ${status.slot}`)
          break
        }
        assert.ok(performance.now() < deadline, "not confirmed within a minute")
        await delay(200)
      }
      assert.equal(await wallet.recipientBalance(), sol)
      assert.equal(await wallet.balance(), sol - 5000n)
      show(`balances on the chain: recipient ${sol} lamports, payer ${sol - 5000n}`)
    },
  )

  const secondKey = await take(
    {
      does: "The agent rotates its key",
      proves: "there is a new key before the old one goes, and the tool never shows either",
    },
    async () => {
      await svc.keep("old-key", `${firstKey}\n`)
      const answer = await svc.json("svc keys mint --name second --save --json")
      const minted = shape.key.parse(answer)
      const keys = shape.keys.parse(await svc.json("svc keys list --json"))
      for (const { id, name, current } of keys) show(`key ${id} "${name}"${current ? ", in use" : ""}`)
      const old = keys.find(({ name }) => name === "signup")
      assert.deepEqual([old?.current, keys.find(({ id }) => id === minted.id)?.current], [false, true])
      const revoked = shape.revoked.parse(await svc.json(`svc keys revoke ${old?.id} --json`))
      assert.deepEqual([revoked.revoked, revoked.remaining_secret_keys], [true, 1])
      const kept = shape.credentials.parse(JSON.parse(await svc.read("config/svc/credentials.json")))[apiUrl]
      assert.ok(kept !== undefined && kept.api_key !== firstKey)
      assert.ok(!JSON.stringify(answer).includes(kept.api_key))
      return kept.api_key
    },
  )

  await take(
    {
      does: "The old key is tried everywhere",
      proves: "a revoked key is dead from the next request on, and the new one works",
    },
    async () => {
      const withOldKey = `SVC_API_URL=${apiUrl} SVC_API_KEY="$(cat ../old-key)" svc`
      for (const command of [
        "svc auth login --json < ../old-key",
        `${withOldKey} auth status --json`,
        `${withOldKey} keys mint --json`,
        `${withOldKey} session ${stackUrl} --json`,
      ]) {
        assert.equal(await svc.errorCode(command), "invalid-api-key")
        show("-> invalid-api-key")
      }
      const headers = { authorization: `Bearer ${firstKey}` }
      const registry = await fetch(`${apiUrl}/api/registry`, { headers })
      assert.deepEqual([registry.status, registry.headers.get("x-auth-ignored")], [200, "invalid-api-key"])
      show("the public registry answers as it answers anybody, with X-Auth-Ignored: invalid-api-key")
      assert.equal(shape.identity.parse(await svc.json("svc auth status --json")).slug, slug)
    },
  )

  await take(
    {
      does: "The token minted with the old key is tried, now and five minutes later",
      proves: "a token lives out its five minutes, as the pages say, and is refused after them",
    },
    async () => {
      const { content } = shape.page.parse(await svc.json("svc docs fetch keys --json"))
      const [promise] = /[^.]*token minted before lives out its 5 minutes\./.exec(content.replaceAll(/\s+/g, " ")) ?? []
      assert.ok(promise !== undefined, "the page on keys no longer says what becomes of tokens")
      show(`the page on keys: "${promise.trim()}"`)
      const { blockHeight } = await relay("block-height", {}, heightShape)
      show(`now: block-height -> ${blockHeight}`)
      const later = createRelayClient(await instance.startRelayAhead(tokenMs + leewayMs + 1000), token)
      const refusal = await later("block-height", {}, errorShape, 401)
      assert.equal(refusal.code, "token-expired")
      show("a relay whose clock is five minutes ahead: block-height -> 401 token-expired")
    },
  )

  await take(
    {
      does: "The logs of all services are read",
      proves: "no key, no token, no transaction and no whole signature was written anywhere",
    },
    async () => {
      const log = instance.log()
      for (const route of ["/api/agents/signup", "/ws/sessions", "/transactions/v1/send"])
        assert.ok(log.includes(route))
      const [, , tokenSignature = token] = token.split(".")
      for (const secret of [firstKey, secondKey, token, tokenSignature, wire, signature]) {
        assert.ok(!log.includes(secret), "a secret is in the log")
      }
      show(`${log.split("\n").length} lines, none with a secret`)
    },
  )
}
