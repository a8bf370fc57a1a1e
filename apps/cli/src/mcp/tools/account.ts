import type { Platform } from "@svc/client"
import { z } from "zod"
import { authSignup, authStatus } from "../../account/auth.ts"
import { readCopy } from "../../account/env.ts"
import { longestOverlap, readKeys, rotateKey } from "../../account/keys.ts"
import type { Context } from "../../command.ts"
import { CliError, onCode } from "../../errors.ts"
import { isObject, parseJson } from "@svc/common/json-object"
import { ToolError } from "@svc/mcp"
import { platformOf } from "../../services/api.ts"
import { type ApiWithKey, apiWithKey } from "../../settings/key.ts"
import { variable } from "../../settings/settings.ts"
import { changesLittle, defineTool } from "../tool.ts"

const nothing = (): undefined => undefined

/** Whose key is stored; undefined if there is none. */
const ownerOf = (context: Context) =>
  authStatus(context).then(({ json }) => json, onCode("missing-credentials", nothing))

const claimsOf = (token: string): unknown => parseJson(Buffer.from(token.split(".")[1] ?? "", "base64url").toString())

type Header = (name: string) => string | null

/** A response of the platform, with its headers. */
const asked = async <Body>(api: ApiWithKey, ask: (platform: Platform) => Promise<Body>) => {
  let header: Header = () => null
  const platform = platformOf(api, (response) => {
    header = response.header
  })
  return { body: await ask(platform), header }
}

/** The limits of a key: those that the platform tells with its responses, and those that a session's token has. */
const limitsOf = async (api: ApiWithKey) => {
  const read = (header: Header, name: string, pattern: RegExp): number | undefined => {
    const found = pattern.exec(header(name) ?? "")?.[1]
    return found === undefined ? undefined : Number(found)
  }
  const perMinute = (header: Header) => read(header, "ratelimit-policy", /;q=(\d+)/)
  const stacks = await asked(api, ({ registry }) => registry.list({ limit: 1 }))
  const websocket_url = stacks.body[0]?.websocket_url ?? ""
  const session = await asked(api, (platform) => platform.mintSession({ websocket_url })).catch(
    onCode(undefined, nothing),
  )
  const claims = session && claimsOf(session.body.token)
  return {
    registry_requests_per_minute: perMinute(stacks.header),
    registry_requests_left: read(stacks.header, "ratelimit", /;r=(\d+)/),
    sessions_per_minute: session && perMinute(session.header),
    ...(isObject(claims) && isObject(claims["limits"]) && claims["limits"]),
  }
}

/** The agent's key: when it ends, and what replaced it. */
const keyOf = async (api: ApiWithKey) => {
  const current = (await readKeys(api)).find((key) => key.current)
  return current && { id: current.id, expires_at: current.expires_at, replaced_by: current.replaced_by }
}

const replaced =
  "Key replaced_by isn't stored here. Before this key expires, call rotate_key, which revokes that one if nobody has used it."

export const accountTools = [
  defineTool({
    name: "account",
    description:
      "Call first: tells whose key this machine has, its end and limits, and this copy's URLs, chain and faucet. If it has no slug, pass sign_up: true, which registers an agent and stores its key.",
    input: { sign_up: z.boolean().optional() },
    output: {
      status: z.string(),
      slug: z.string().nullish(),
      display_name: z.string().nullish(),
      key_hint: z.string().nullish(),
      key: z
        .object({ id: z.number(), expires_at: z.string().nullable(), replaced_by: z.number().optional() })
        .optional(),
      person: z.object({ key_hint: z.string().nullable() }).optional().meta({ description: "may publish" }),
      limits: z.record(z.string(), z.number().optional()).optional(),
      copy: z.record(z.string(), z.unknown()),
      next: z.string().optional(),
    },
    annotations: changesLittle,
    run: async ({ context }, { sign_up: signsUp = false }) => {
      const given = context()
      let owner = await ownerOf(given)
      // A person's key has no slug. A key from the environment is the only one that is used.
      const isAgent = (owner?.slug ?? null) !== null || variable(given.env, "SVC_API_KEY") !== undefined
      if (!isAgent && signsUp) {
        // Another process may just have signed up.
        await authSignup(given).catch(onCode("already-signed-up", nothing))
        owner = await ownerOf(given)
      }
      const { urls, chain } = await readCopy(given)
      const copy = { ...urls, ...chain, limits: `${urls.docs_url}/limits.md` }
      if (owner === undefined) return { status: "signed-out", copy, next: "Call account with sign_up: true." }
      const api = await apiWithKey(given)
      const [limits, key] = await Promise.all([limitsOf(api), owner.slug === null ? undefined : keyOf(api)])
      const next = key?.replaced_by === undefined ? undefined : replaced
      return { ...owner, key, limits, copy, next }
    },
  }),
  defineTool({
    name: "rotate_key",
    description:
      "Replace the agent's key without downtime: the new key is stored, never shown; the old one works until the overlap ends (default 3600 s; 0 if it leaked).",
    input: { overlap_seconds: z.int().min(0).max(longestOverlap).optional() },
    output: {
      id: z.number(),
      key_hint: z.string(),
      old_expires_at: z.string().nullish(),
      expires_at: z.string().nullish(),
      next: z.string().optional(),
    },
    annotations: changesLittle,
    run: async ({ context }, { overlap_seconds: overlap }) => {
      const given = context({
        flags: new Set(["save"]),
        options: overlap === undefined ? {} : { overlap: String(overlap) },
      })
      if (variable(given.env, "SVC_API_KEY") !== undefined) {
        throw new ToolError(
          "key-from-environment",
          "SVC_API_KEY is set, so a new key wouldn't be used.",
          "Ask a person to store that key (svc auth login < KEY-FILE) and to remove SVC_API_KEY from the client's configuration of svc mcp. Then call rotate_key again.",
        )
      }
      const { json } = await rotateKey(given)
      if ("key_hint" in json) {
        // A key that was replaced earlier works until its own overlap ends. A newer one is what another process has stored.
        const keys = await readKeys(await apiWithKey(given)).catch(onCode(undefined, () => []))
        const others = keys.filter(({ id, status, current }) => id < json.id && status === "active" && !current)
        const words = others.map(
          ({ id, key_hint: hint, expires_at: end }) =>
            `${hint} works until ${end ?? "it is revoked"}; to end it sooner, ask a person: svc keys revoke ${id}.`,
        )
        return { ...json, next: words.length === 0 ? undefined : words.join(" ") }
      }
      throw new CliError("key-not-saved", "The new key wasn't stored.")
    },
  }),
]
