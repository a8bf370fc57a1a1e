import { shellWord } from "@svc/common/foreign-text"
import { type ConnectionState, SvcError, type Watched } from "@svc/client"
import type { Context } from "../command.ts"
import { CliError, usageError } from "../errors.ts"
import { plain } from "../output/table.ts"
import { untilStopped } from "../until-stopped.ts"
import { createLater, openView, unreadable } from "./view.ts"
import { recordTable } from "./watch-table.ts"
import { readWhere } from "./where.ts"

const redrawMs = 100

/** One object for each record that changed. A snapshot after the first one follows a lost connection: what it lacks is gone. */
const createLines = () => {
  let before: ReadonlyMap<string, unknown> = new Map()
  return ({ records, change }: Watched<unknown>): readonly object[] => {
    const last = before
    before = records
    if (change.op !== "snapshot") return [change]
    const gone = [...last.keys()].filter((key) => !records.has(key))
    return [
      ...gone.map((key) => ({ op: "delete", key })),
      ...[...records].map(([key, record]) => ({ op: "snapshot", key, record })),
    ]
  }
}

/** Redraws a table in place, at most ten times a second. */
const createDrawing = ({ write, moveUp, screen, style }: Context, title: string) => {
  let drawn = 0
  let timer: NodeJS.Timeout | undefined
  let newest: ReadonlyMap<string, unknown> = new Map()
  const draw = (): void => {
    timer = undefined
    const size = screen()
    if (size === undefined) return
    const count = newest.size === 1 ? "1 record" : `${newest.size} records`
    const heading = plain(`${title}: ${count}`).slice(0, size.columns)
    const text = `${heading}\n\n${recordTable(newest, size, style)}\n`
    if (drawn > 0) moveUp(drawn)
    write(text)
    drawn = text.split("\n").length - 1
  }
  return {
    show: (records: ReadonlyMap<string, unknown>): void => {
      newest = records
      timer ??= setTimeout(draw, redrawMs)
    },
    /** Leaves the table as it is: the next one is drawn below it. */
    leave: (): void => {
      drawn = 0
    },
    end: (): void => {
      if (timer === undefined) return
      clearTimeout(timer)
      draw()
    },
  }
}

const nextSteps = (command: string): Readonly<Record<string, string>> => ({
  "key-required": `Next: ${command} --key KEY`,
  "snapshot-limit-exceeded": `Next: ${command} --take N, with fewer records`,
})

/** `svc watch STACK [VIEW]`: a stack's live records, until the user interrupts or the time of --for is over. */
export const watch = async (context: Context): Promise<undefined> => {
  const [name = "", given] = context.args
  const { key, take, where, for: seconds } = context.options
  const [isOnce, isLater] = [context.flags.has("once"), context.flags.has("no-snapshot")]
  if (isOnce && isLater) throw usageError("Use either --once or --no-snapshot, not both.")
  const conditions = readWhere(where)
  const opened = await openView(context, name, given)
  const { stackName, view, websocketUrl } = opened

  const isTable = context.screen() !== undefined && context.format === "text" && !isLater
  const drawing = isTable ? createDrawing(context, `${stackName} ${view}`) : undefined
  let known: ConnectionState["kind"] = "connecting"
  const onState = (state: ConnectionState): void => {
    const wasOpen = known === "live" || known === "silent"
    known = state.kind
    if (state.kind !== "silent" && !(state.kind === "away" && wasOpen)) return
    if (state.kind === "away" && state.error?.retryable === false && !state.error.code.startsWith("token-")) return
    drawing?.leave()
    const lost = state.kind === "away" && state.error !== undefined ? ` (${state.error.code})` : ""
    context.note(
      state.kind === "silent"
        ? "The stream server doesn't respond. Waiting…"
        : `The connection was lost${lost}. Reconnecting…`,
    )
  }
  const linesOf = isLater ? createLater() : createLines()
  const wanted = {
    ...(take !== undefined && { take: Number(take) }),
    ...(key !== undefined && { key }),
    ...(conditions !== undefined && { where: conditions }),
    onState,
  }
  const check = `svc stream check ${shellWord(websocketUrl)} --stack ${shellWord(stackName)}`
  let [isShown, isInterrupted] = [false, false]
  const onInterrupt: Context["onInterrupt"] = (stop) =>
    context.onInterrupt((signal) => {
      isInterrupted = true
      stop(signal)
    })
  const show = async (signal: AbortSignal): Promise<void> => {
    for await (const step of opened.stream.watch(view, { ...wanted, signal })) {
      // A later snapshot may be of a new version: without the field, nothing would ever match.
      if (isShown && step.change.op === "snapshot" && conditions !== undefined) await opened.checkAgain(conditions)
      isShown = true
      if (step.change.op === "snapshot" && step.records.size === 0 && !isLater)
        context.note(`${stackName} ${view} has no records now.`)
      if (drawing !== undefined) drawing.show(step.records)
      else if (!linesOf(step).every(context.writeRecord)) break
      // A slow reader gets the rest later, and memory doesn't fill with it.
      else await context.taken()
      if (isOnce) break
    }
  }
  try {
    await untilStopped({ onInterrupt }, seconds === undefined ? undefined : Number(seconds), show)
    // Without records and without an error, the view would seem empty.
    if (isOnce && !isShown && !isInterrupted) {
      const message = `The stream of ${stackName} sent no records of ${view} within ${seconds} s.`
      throw new CliError("unreachable", message, { next: `Next: ${check}` })
    }
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    const next = nextSteps(`svc watch ${shellWord(stackName)} ${shellWord(view)}`)[error.code]
    if (next !== undefined) throw new CliError(error.code, error.message, { next })
    if (error.code !== "network-error") throw error
    const { message = error.message, isServed = true } = unreadable(error, opened) ?? {}
    throw new CliError("unreachable", message, {
      next: isServed
        ? `Next: ${check}`
        : `Next: its owner runs a stream server there (${check}); svc explore lists other stacks`,
    })
  } finally {
    drawing?.end()
  }
}
