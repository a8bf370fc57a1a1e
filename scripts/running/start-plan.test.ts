import { readFileSync } from "node:fs"
import { expect, test } from "vitest"

import { allocatorSettings, services } from "../../infra/services.ts"
import { planStart } from "./start-plan.ts"

const environment = (env: Record<string, string>, name: string) =>
  planStart(services, env).planned.find(({ service }) => service.name === name)?.env

test("by default the relay is enabled with the local chain, the platform's keys and one audience", () => {
  expect(environment({}, "relay")).toEqual({
    ...allocatorSettings,
    PORT: "4002",
    SVC_API_URL: "http://localhost:4003",
    SVC_DOCS_URL: "http://localhost:4001",
    SVC_RELAY_URL: "http://localhost:4002",
    SVC_SESSION_AUDIENCE: "transfers",
    SVC_SESSION_JWKS_URL: "http://localhost:4003/.well-known/jwks.json",
    SVC_STREAM_URL: "ws://127.0.0.1:4004",
    SVC_TRANSACTIONS_ENABLED: "true",
    SVC_TRANSACTION_RPC_URL: "http://localhost:8899",
  })
  expect(environment({}, "docs")).toMatchObject({ PORT: "4001", SVC_DOCS_WATCH: "true" })
  expect(environment({}, "stream")).toMatchObject({
    PORT: "4004",
    RPC_URL: "http://localhost:8899",
    SVC_API_URL: "http://localhost:4003",
    SVC_SAMPLE_TRAFFIC: "true",
  })
  expect(environment({}, "platform")).toMatchObject({ SVC_STREAM_URL_TEMPLATE: "ws://127.0.0.1:4004/{slug}" })
})

test("settings from the environment stay, and empty ones are filled in", () => {
  const env = { SVC_TRANSACTIONS_ENABLED: "false", SVC_API_URL: "https://api.example", SVC_SESSION_AUDIENCE: "" }
  expect(environment(env, "relay")).toMatchObject({ ...env, SVC_SESSION_AUDIENCE: "transfers" })
})

test.each(["CHAIN_RPC_URL", "RPC_URL", "SVC_TRANSACTION_RPC_URL"])("an upstream set by %s is the only one", (name) => {
  const env = environment({ [name]: "https://rpc.example" }, "relay")
  expect(Object.values(env ?? {})).not.toContain("http://localhost:8899")
  const stream = environment({ [name]: "https://rpc.example" }, "stream")
  expect(stream).toMatchObject({ RPC_URL: "https://rpc.example", SVC_SAMPLE_TRAFFIC: "false" })
})

test("the platform's key URL isn't added to the operator's own keys", () => {
  expect(environment({ SVC_SESSION_PUBLIC_KEY_FILE: "key.pem" }, "relay")).not.toHaveProperty("SVC_SESSION_JWKS_URL")
})

test("a port setting moves its service and the addresses by which others find it", () => {
  const env = { SVC_API_PORT: "5003", SVC_CHAIN_PORT: "5899", PORT: "3000" }
  expect(environment(env, "platform")).toMatchObject({ PORT: "5003", SVC_API_URL: "http://localhost:5003" })
  expect(environment(env, "relay")).toMatchObject({
    PORT: "4002",
    SVC_SESSION_JWKS_URL: "http://localhost:5003/.well-known/jwks.json",
    SVC_TRANSACTION_RPC_URL: "http://localhost:5899",
  })
})

test("all unusable ports are reported at once, by their variables", () => {
  const env = { SVC_DOCS_PORT: "x", SVC_RELAY_PORT: "65536", SVC_API_PORT: "8899" }
  const { problems } = planStart(services, env)
  expect(problems).toHaveLength(3)
  for (const name of Object.keys(env)) expect(problems.join()).toContain(name)
})

test("the images run Node with the same allocator", () => {
  const dockerfile = readFileSync(new URL("../../infra/Dockerfile", import.meta.url), "utf8")
  for (const [name, value] of Object.entries(allocatorSettings)) expect(dockerfile).toContain(` ${name}=${value}`)
})
