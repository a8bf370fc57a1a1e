import { openApiDocument } from "@svc/openapi"
import { security } from "./describe-route.ts"
import type { RelayApp } from "../routes/route.ts"

const description = `A narrow way for signed Solana transactions to one RPC provider: a few fixed routes, no other methods.

The relay never sees a signing key. Integers of 64 bits are decimal strings, transactions and messages canonical base64.
A send is handed to the provider once: on every error of it \`submissionState\` says whether the transaction is proven not
to have been submitted. When it is \`unknown\`, look the \`signature\` up before anything else.`

const tags = [
  { name: "transactions", description: "The routes to the provider." },
  { name: "service", description: "The relay itself." },
]

/** The OpenAPI 3.1 document of what a relay serves. */
export const describeRelay = (app: RelayApp, version: string, publicUrl: string) => {
  app.openAPIRegistry.registerComponent("securitySchemes", security, {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "A session token of the platform, with the scope that the route names.",
  })
  return openApiDocument(app, { title: "Transaction relay", version, description, tags }, [{ url: publicUrl }])
}
