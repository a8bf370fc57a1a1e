import { strict as assert } from "node:assert"

import { connectDocs } from "./docs.ts"
import type { Traveller } from "./journey.ts"
import * as shape from "./shapes.ts"

export type Agent = { readonly slug: string; readonly firstKey: string; readonly stackUrl: string }

/** From one address to a key, the page that helps, and a stack. */
export const arrive = async ({ instance, svc, take, show }: Traveller): Promise<Agent> => {
  const { docsUrl, apiUrl } = instance

  await take(
    {
      does: "The agent reads agent.md and runs its first commands",
      proves: "one address is enough: the tool and the skills come from it, none of it from a package registry",
    },
    async () => {
      const page = await (await fetch(`${docsUrl}/agent.md`)).text()
      show(`GET ${docsUrl}/agent.md`)
      const [init = "", install = ""] = (/```console\n(.*?)```/s.exec(page)?.[1] ?? "").split("\n")
      assert.match(init, /^npx .*\/cli\/svc\.tgz init\b/)
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
  return { slug, firstKey, stackUrl }
}
