import { Connection, goesOn } from "../connection.tsx"
import { root } from "../dom.ts"
import { partNames } from "./away.ts"
import type { Feed } from "./feed.ts"
import { counted } from "./values.ts"

/** What is said of a feed besides its state's own words. */
const textOf = (feed: Feed, isKeyed: boolean): string => {
  const state = feed.state()
  const kept = feed.records().size === 0 ? "" : " These are the last records."
  switch (state.kind) {
    case "connecting":
      return ""
    case "live":
      if (feed.platformAway()) return `${partNames.platform} Records still come until the session ends.`
      if (feed.records().size > 0) return ""
      return isKeyed ? "There is no record with this key." : "No records yet."
    case "silent":
      return `${kept} ${goesOn}`.trim()
    case "away":
      return `${state.part === undefined ? "The connection was lost." : partNames[state.part]}${kept} ${goesOn}`
    case "key-gone":
      return `The key that this page reads with was replaced.${kept} The page takes the new key by itself.`
    case "waiting":
      return `${state.error.message}${kept} ${goesOn}`
    case "refused":
      break
  }
  return `${state.error.message} ${state.error.hint ?? ""}`
}

type Props = {
  readonly feed: Feed
  readonly isPaused: boolean
  readonly base: string
  /** Whether it is the feed of one record. */
  readonly isKeyed: boolean
}

export const Status = ({ feed, isPaused, base, isKeyed }: Props) => {
  const state = feed.state()
  const isElsewhere = state.kind === "refused" && state.error.code === "origin-not-allowed"
  return (
    <p class="live-status">
      <Connection kind={state.kind} text={textOf(feed, isKeyed)} isPaused={isPaused} changedAt={feed.changedAt()} />
      {isElsewhere && new URL(base).origin !== location.origin && (
        <>
          {" "}
          <a href={`${base}${location.pathname.slice(root.length)}`}>Open this page at {base}</a>
        </>
      )}
      {feed.changes() > 0 && <small> {counted(feed.changes(), "change")} since this page was opened</small>}
    </p>
  )
}
