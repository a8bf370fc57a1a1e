import { strict as assert } from "node:assert"
import { join } from "node:path"

import { auctions } from "./auctions.ts"
import type { Traveller } from "./journey.ts"
import { ownerKeyFile } from "./owner.ts"
import * as shape from "./shapes.ts"
import { createShell, type Ended } from "./shell.ts"

/** A stack's way from a file to readers, through a change that breaks them, and back. */
export const publish = async ({ instance, svc: reader, take, show }: Traveller): Promise<void> => {
  const { apiUrl, docsUrl } = instance
  const owner = await createShell(join(instance.folder, "owner"), (command) => show(`owner$ ${command}`), reader.home)
  const tell = ({ stdout, stderr }: Ended): void => {
    for (const line of `${stderr}${stdout}`.trimEnd().split("\n")) show(line)
  }
  const run = async (who: typeof owner, command: string, wanted = 0): Promise<Ended> => {
    const ended = await who.run(command)
    tell(ended)
    assert.equal(ended.code, wanted)
    return ended
  }
  await take(
    {
      does: "An owner, with a key from the operator, publishes a stack",
      proves: "a file becomes a stack that readers find: checked, built, deployed and verified, without a shell there",
    },
    async () => {
      await owner.write("project/first.stack.json", JSON.stringify(auctions.first))
      await owner.write("project/second.stack.json", JSON.stringify(auctions.breaking))
      await run(owner, `svc init --api-url ${apiUrl} --docs-url ${docsUrl}`)
      await run(owner, `svc auth login < ${ownerKeyFile(instance.folder)}`)
      const url = "--websocket-url wss://streams.example/auctions"
      await run(owner, `svc push first.stack.json --name auctions ${url} --visibility public`)
    },
  )

  await take(
    {
      does: "A reader takes its types, and locks the version that it is written for",
      proves: "what a program relies on stands in its own folder: version, content hash and where they come from",
    },
    async () => {
      await run(reader, "svc types auctions --output auctions.ts")
      const types = await reader.read("project/auctions.ts")
      assert.match(types, /highest_bid: string/)
      await run(reader, "svc lock auctions")
      await run(reader, "svc check")
    },
  )

  const runId = await take(
    {
      does: "The owner publishes a version that breaks readers",
      proves: "it says what it takes from them, and waits for approval: nobody is broken by accident",
    },
    async () => {
      await run(owner, "svc push second.stack.json --name auctions", 1)
      const [waiting] = shape.records.parse(await owner.json("svc runs --json"))
      assert.equal(waiting?.status, "waiting")
      await run(reader, "svc check")
      return waiting.id
    },
  )

  await take(
    {
      does: "The owner gives its word, and the reader checks what it relies on",
      proves: "the reader learns what changed under it, line by line, before its program finds out",
    },
    async () => {
      await run(owner, `svc runs resume ${runId} --wait`)
      const broken = await run(reader, "svc check", 1)
      assert.match(broken.stderr, /bidder removed/)
      await run(reader, "svc diff auctions")
    },
  )

  await take(
    {
      does: "The owner rolls back",
      proves: "one command brings the version before back, and the reader is content again",
    },
    async () => {
      const [deployment] = shape.records.parse(await owner.json("svc deployments --json"))
      assert.ok(deployment !== undefined)
      await run(owner, `svc deployments rollback ${deployment.id} --wait`)
      await run(reader, "svc versions auctions")
      await run(reader, "svc check")
    },
  )
}
