import { randomBytes } from "node:crypto"
import { fileURLToPath } from "node:url"
import { freePort } from "@svc/testing"
import { Webhook } from "standardwebhooks"
import { expect, test } from "vitest"
import { testProcess, testReceiver } from "../../test/start-service.ts"

test("the example receiver carries out a signed call once per id, and rejects unsigned ones", async () => {
  const secret = `whsec_${randomBytes(32).toString("base64")}`
  const asts = await testReceiver()
  asts.answer((_, response) => response.end('{"stack_name":"ThingStream"}'))
  const port = await freePort()
  const program = testProcess(
    process.execPath,
    [fileURLToPath(new URL("../deploy-hook-receiver.ts", import.meta.url)), String(port)],
    {
      env: { SVC_DEPLOY_HOOK_SECRET: secret },
    },
  )
  await program.waitFor(/listening/)
  const call = async (type: string, id: string, signedBy = secret) => {
    const body = JSON.stringify({ type, data: { name: "things", version: 2, content_hash: "", ast_url: asts.url } })
    const at = new Date()
    const headers = {
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
      "webhook-signature": new Webhook(signedBy).sign(id, at, body),
    }
    return (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body })).status
  }
  expect(await call("deployment.deploy", "one")).toBe(204)
  expect(await call("deployment.deploy", "one")).toBe(204)
  expect(await call("deployment.stop", "two", `whsec_${randomBytes(32).toString("base64")}`)).toBe(400)
  expect(await call("deployment.stop", "two")).toBe(204)
  await program.waitFor(/"end":"things"/)
  expect(program.stdout().match(/"serve":"things","version":2,"stack":"ThingStream"/g)).toHaveLength(1)
})
