import { openApiDocument } from "@svc/openapi"
import { security } from "./describe-route.ts"
import type { RelayApp } from "../routes/route.ts"

const description = `Inspects and submits signed Solana transactions through one RPC provider. It has a few fixed routes, each for one RPC method.

The relay never receives a signing key. Integers of 64 bits are decimal strings; transactions and messages are canonical base64.
The relay calls the provider once for each send. Every error of a send has \`submissionState\`: \`not_submitted\` if that is proven, else \`unknown\`. If it is \`unknown\`, look up the \`signature\` before anything else.`

const tags = [
  { name: "transactions", description: "The routes to the provider." },
  { name: "service", description: "The service." },
]

/** The OpenAPI 3.1 document of a relay. */
export const describeRelay = (app: RelayApp, version: string, publicUrl: string) => {
  app.openAPIRegistry.registerComponent("securitySchemes", security, {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "A session token of the platform with the scope of the route.",
  })
  return openApiDocument(app, { title: "Transaction relay", version, description, tags }, [{ url: publicUrl }])
}
