import type { Context, Outcome } from "../command.ts"
import { usageError } from "../errors.ts"
import type { Api } from "../services/api.ts"
import { apiForReading } from "../settings/key.ts"
import { copyUrls } from "../settings/settings.ts"
import { entityText, stackList, stackText } from "./explore-tables.ts"
import { withRecords } from "./records-now.ts"
import { entityOf, readRegistry, readStack } from "./stack.ts"

/** All stacks, with the records that they have now. */
export const readStacks = async (context: Context, api: Api, include?: "schema") =>
  withRecords(
    context,
    (await readRegistry(context, api, include)).map(
      ({ name, description, websocket_url, entities, visibility, deprecated, schema }) => ({
        name,
        description,
        websocket_url,
        entities,
        visibility,
        deprecated,
        schema,
      }),
    ),
  )

const exploreAll = async (context: Context, api: Api): Promise<Outcome> => {
  if (context.options["at"] !== undefined) throw usageError("--at needs the name of a stack.")
  const registry = await readStacks(context, api, context.format === "text" ? undefined : "schema")
  const { chain_url: chain } = await copyUrls(context)
  const about = chain === undefined ? "" : `\nThis copy's chain: ${chain} (requestAirdrop gives test funds)`
  return { json: { registry }, text: (style) => stackList(registry, api.url, style) + about }
}

/** `svc explore [STACK [ENTITY]]`: what the registry contains. */
export const explore = async (context: Context): Promise<Outcome> => {
  const [name, entityName] = context.args
  const api = await apiForReading(context)
  if (name === undefined) return exploreAll(context, api)
  const stack = await readStack(context, api, name)
  if (entityName === undefined) {
    const [json = stack] = await withRecords(context, [stack])
    return { json, text: (style) => stackText(json, style) }
  }
  const entity = entityOf(stack, entityName)
  return { json: entity, text: (style) => entityText(entity, stack.schema.types, style) }
}
