import { createPlatform, createSession, createStream, SvcError, type Watched } from "@svc/client"
import { WebSocket } from "ws"
import type { Context, Outcome } from "../context.ts"
import { CliError, usageError } from "../errors.ts"
import { readStack } from "../explore/explore.ts"
import { listOf, textOf } from "../output/json-value.ts"
import { apiWithKey } from "../settings/key.ts"
import { plain } from "../output/table.ts"
import { recordTable } from "./watch-table.ts"

const redrawMs = 100

/** The first view that the stack itself defines, else the list of its first entity. */
const firstView = (schema: unknown): string => {
  const entities = listOf(schema, "entities").map((entity) => ({ name: textOf(entity, "name"), entity }))
  const own = entities.flatMap(({ name, entity }) =>
    listOf(entity, "views")
      .map((view) => textOf(view, "id"))
      .filter((id) => id !== `${name}/list` && id !== `${name}/state`),
  )
  return own[0] ?? `${entities[0]?.name}/list`
}

const takeOption = ({ options: { take } }: Context): { take?: number } => {
  if (take === undefined) return {}
  if (!/^[1-9]\d{0,5}$/.test(take)) throw usageError("--take takes a whole number, 1 to 999999.", "watch")
  return { take: Number(take) }
}

/** One object a line for each record that changed; the line breaks of a record's text are escapes in JSON. */
const lines = ({ records, change }: Watched<unknown>): readonly object[] =>
  change.op === "snapshot" ? [...records].map(([key, record]) => ({ op: "snapshot", key, record })) : [change]

/** Draws over what it drew before, at most ten times a second. */
const createDrawing = ({ write, screen, bold }: Context, title: string) => {
  let drawn = 0
  let timer: NodeJS.Timeout | undefined
  let newest: ReadonlyMap<string, unknown> = new Map()
  const draw = (): void => {
    timer = undefined
    const size = screen()
    if (size === undefined) return
    const count = newest.size === 1 ? "1 record" : `${newest.size} records`
    const text = `${plain(`${title}: ${count}`)}\n\n${recordTable(newest, size, bold)}\n`
    write(`${drawn === 0 ? "" : `\u001b[${drawn}F\u001b[J`}${text}`)
    drawn = text.split("\n").length - 1
  }
  return {
    show: (records: ReadonlyMap<string, unknown>): void => {
      newest = records
      timer ??= setTimeout(draw, redrawMs)
    },
    end: (): void => {
      if (timer === undefined) return
      clearTimeout(timer)
      draw()
    },
  }
}

/** `svc watch STACK [VIEW]`: a stack's live records, until the user interrupts. */
export const watch = async (context: Context): Promise<Outcome | undefined> => {
  const [name = "", wanted] = context.args
  const take = takeOption(context)
  const { url: apiUrl, key: apiKey } = await apiWithKey(context)
  const platform = createPlatform({ apiUrl, key: apiKey })
  const stack = await readStack(context, { url: apiUrl, key: apiKey }, name)
  const [stackName, websocketUrl] = [textOf(stack, "name"), textOf(stack, "websocket_url")]
  const view = wanted ?? firstView(stack["schema"])
  const session = createSession({ platform, websocketUrl, scope: "read" })
  // Node 20 has no WebSocket of its own.
  const stream = createStream({ websocketUrl, session, webSocket: WebSocket })

  const leaving = new AbortController()
  const undo = context.onInterrupt(() => leaving.abort())
  const isTable = context.screen() !== undefined && !context.flags.has("json")
  const drawing = isTable ? createDrawing(context, `${stackName} ${view}`) : undefined
  const { key } = context.options
  try {
    const options = { ...take, ...(key !== undefined && { key }), signal: leaving.signal }
    for await (const step of stream.watch(view, options)) {
      if (drawing !== undefined) drawing.show(step.records)
      else if (!lines(step).every((line) => context.write(`${JSON.stringify(line)}\n`))) break
      if (context.flags.has("once")) break
    }
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== "network-error") throw error
    throw new CliError("unreachable", `${error.message}.`, {
      next: `Next: svc stream check ${websocketUrl} --stack ${stackName}`,
    })
  } finally {
    drawing?.end()
    undo()
  }
  return undefined
}
