import { expect, test } from "vitest"
import { document } from "../scripts/openapi.ts"
import { errors } from "../src/errors.ts"
import { testRelay } from "./fixture.ts"
import { routes } from "../src/routes/table.ts"

const ofService = ["/", "/health", "/livez", "/readyz", "/openapi.json"]

test("a relay describes its routes, enabled or not", async () => {
  for (const enabled of ["true", "false"]) {
    const relay = await testRelay("http://127.0.0.1:9", { env: { SVC_TRANSACTIONS_ENABLED: enabled } })
    const { body } = await relay.request("/openapi.json", {})
    expect(body.paths).toEqual(document.paths)
  }
})

test("the document describes every route and every code of the error table", () => {
  expect(Object.keys(document.paths ?? {}).toSorted()).toEqual(
    [...routes.map(({ path }) => path), ...ofService].toSorted(),
  )
  const text = JSON.stringify(document)
  // The codes that no described operation returns.
  const elsewhere = new Set(["method_not_allowed", "not_implemented"])
  for (const code of Object.keys(errors.rows)) expect(text.includes(`"${code}"`)).toBe(!elsewhere.has(code))
})

test("only errors of send require submissionState, and only those after the call require signature", () => {
  for (const { path, class: of } of routes) {
    const text = JSON.stringify(document.paths?.[path]?.post?.responses)
    expect(text.includes('"requestId","submissionState"')).toBe(of === "send")
    expect(text.split('"submissionState","signature"').length - 1).toBe(of === "send" ? 2 : 0)
  }
})
