import { z } from "zod"
import { authSignup, authStatus } from "../../account/auth.ts"
import { longestOverlap, rotateKey } from "../../account/keys.ts"
import type { Context } from "../../command.ts"
import { CliError, onCode } from "../../errors.ts"
import { isObject } from "@svc/common/json-object"
import { textOf } from "../../output/json-value.ts"
import { callApi } from "../../services/api.ts"
import { apiUrl, apiWithKey } from "../../settings/key.ts"
import { variable } from "../../settings/settings.ts"
import { changesLittle, defineTool } from "../tool.ts"

const nothing = (): undefined => undefined

/** Whose key is stored; undefined if there is none. */
const ownerOf = (context: Context): Promise<unknown> =>
  authStatus(context).then(({ json }) => json, onCode("missing-credentials", nothing))

/** The headers of the registry's limit of requests, which every key has. */
const limitsOf = async (context: Context) => {
  const { header } = await callApi(await apiWithKey(context), "/api/registry?limit=1")
  const read = (name: string, pattern: RegExp): number | undefined => {
    const found = pattern.exec(header(name) ?? "")?.[1]
    return found === undefined ? undefined : Number(found)
  }
  return {
    registry_requests_per_minute: read("ratelimit-policy", /;q=(\d+)/),
    remaining: read("ratelimit", /;r=(\d+)/),
  }
}

export const accountTools = [
  defineTool({
    name: "account",
    description:
      "Call first: tells whose key this machine has, and its limits. If it has no slug, pass sign_up: true, which registers an agent and stores its key.",
    input: { sign_up: z.boolean().optional() },
    output: {
      status: z.string(),
      slug: z.string().nullish(),
      display_name: z.string().nullish(),
      api_url: z.string(),
      key_hint: z.string().nullish(),
      person: z.object({ key_hint: z.string().nullable() }).optional().meta({ description: "may publish" }),
      limits: z
        .object({ registry_requests_per_minute: z.number().optional(), remaining: z.number().optional() })
        .optional(),
    },
    annotations: changesLittle,
    run: async ({ context }, { sign_up: signsUp = false }) => {
      const given = context()
      let owner = await ownerOf(given)
      // A person's key has no slug. A key from the environment is the only one that is used.
      const isAgent = textOf(owner, "slug") !== "" || variable(given.env, "SVC_API_KEY") !== undefined
      if (!isAgent && signsUp) {
        // Another process may just have signed up.
        await authSignup(given).catch(onCode("already-signed-up", nothing))
        owner = await ownerOf(given)
      }
      if (!isObject(owner)) return { status: "signed-out", api_url: await apiUrl(given) }
      return { ...owner, limits: await limitsOf(given) }
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
    },
    annotations: changesLittle,
    run: async ({ context }, { overlap_seconds: overlap }) => {
      const given = context({
        flags: new Set(["save"]),
        options: overlap === undefined ? {} : { overlap: String(overlap) },
      })
      if (variable(given.env, "SVC_API_KEY") !== undefined) {
        throw new CliError("key-from-environment", "SVC_API_KEY is set, so a new key wouldn't be used.", {
          next: "Remove it from the client's configuration of svc mcp, then call account with sign_up: true.",
        })
      }
      return (await rotateKey(given)).json
    },
  }),
]
