import { SvcError } from "@svc/client"
import type { Context, Outcome } from "../command.ts"
import { CliError, usageError } from "../errors.ts"
import { readStack } from "../explore/stack.ts"
import { apiWithKey } from "../settings/key.ts"
import { plain } from "../output/table.ts"
import { hang } from "../output/wrap.ts"
import { platformOf } from "../services/api.ts"
import { connect, RuleBroken, RuleSkipped } from "./probe.ts"
import { type Rule, rulesFor, type Subject } from "./rules.ts"
import { connectionOptions } from "./web-socket.ts"

type Result = { readonly rule: string; readonly result: "pass" | "fail" | "skip"; readonly reason?: string }

const wideTypes = /^(?:Option<)?[iu](?:64|128|256)>?$/

const judge = async ({ name, check }: Rule, subject: Subject): Promise<Result> => {
  try {
    await check(subject)
    return { rule: name, result: "pass" }
  } catch (error) {
    if (error instanceof RuleSkipped) return { rule: name, result: "skip", reason: error.message }
    if (error instanceof RuleBroken) return { rule: name, result: "fail", reason: error.message }
    if (error instanceof SvcError || error instanceof CliError) throw error
    return { rule: name, result: "fail", reason: error instanceof Error ? error.message : String(error) }
  }
}

const webSocketUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && ["ws:", "wss:"].includes(url.protocol)) return url.href
  throw usageError("WS_URL must be a ws:// or wss:// URL, such as wss://streams.example/my-stack.")
}

/** `svc stream check WS_URL --stack NAME`: whether a stream server follows the protocol. */
export const checkStream = async (context: Context): Promise<Outcome> => {
  const url = webSocketUrl(context.args[0] ?? "")
  const { stack: name } = context.options
  if (name === undefined) throw usageError("--stack NAME is missing: the stack that the URL streams.")
  const api = await apiWithKey(context)
  const platform = platformOf(api)
  const {
    websocket_url: target,
    schema: { entities },
  } = await readStack(context, api, name)
  const views = entities.flatMap((entity) => entity.views)
  const wideFields = entities.map((entity) => {
    const wide = entity.fields.filter(({ rust_type }) => wideTypes.test(rust_type))
    return [entity.name, wide.map(({ path }) => path)] as const
  })

  const mint = async (websocket_url: string, scope = "read"): Promise<string> =>
    (await platform.mintSession({ websocket_url, scope })).token
  let shared: Promise<string> | undefined
  const options = await connectionOptions(url, context.env)
  const subject: Subject = {
    url,
    options,
    views,
    wideFields: new Map(wideFields),
    token: () => (shared ??= mint(target)),
    newToken: () => mint(target),
    tokenOfOtherStack: async () => {
      const other = (await platform.registry.list()).find((one) => one.websocket_url !== target)
      if (other === undefined) throw new RuleSkipped("the registry has no second public stack")
      return mint(other.websocket_url)
    },
    tokenWithoutRead: () =>
      mint(target, "transaction:inspect").catch((error: unknown) => {
        if (!(error instanceof SvcError) || error.code !== "scope-not-allowed") throw error
        throw new RuleSkipped("the stack's tokens have no other scope")
      }),
    wait: context.flags.has("wait"),
  }

  const first = await connect(url, options, { bearer: await subject.token() }).catch((error: unknown) => {
    if (error instanceof CliError || error instanceof SvcError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new CliError("unreachable", `${url} can't be reached (${reason}).`, {
      next: "Check the URL and that the stream server runs",
    })
  })
  if ("close" in first) first.close()
  const rules: Result[] = []
  for (const rule of rulesFor(views)) {
    context.progress(`${rules.length + 1}: ${rule.name}`)
    rules.push(await judge(rule, subject))
  }
  context.progress("")
  const count = (result: Result["result"]): number => rules.filter((one) => one.result === result).length
  const [passed, failed, skipped] = [count("pass"), count("fail"), count("skip")]
  return {
    json: { url, stack: name, passed, failed, skipped, rules },
    text: ({ width, red }) => {
      const lines = rules.map(({ rule, result, reason }) => {
        const line = hang(`${result}  `, plain(`${rule}${reason === undefined ? "" : `: ${reason}`}`), width)
        return result === "fail" ? line.replace(result, red(result)) : line
      })
      return [...lines, "", `${passed} passed, ${failed} failed, ${skipped} skipped`].join("\n")
    },
    exit: failed === 0 ? 0 : 1,
  }
}
