import { root } from "../dom.ts"
import { partNames } from "./away.ts"
import type { Feed } from "./feed.ts"

const textOf = (feed: Feed): string => {
  const state = feed.state()
  const kept = feed.records().size === 0 ? "" : " These are the last records."
  switch (state.kind) {
    case "connecting":
      return "Connecting…"
    case "away":
      return `${partNames[state.part]}${kept} This page goes on by itself.`
    case "waiting":
      return `${state.error.message}${kept} This page goes on by itself.`
    case "refused":
      return `${state.error.message} ${state.error.hint ?? ""}`
    case "live":
      break
  }
  if (feed.platformAway()) return `${partNames.platform} Records still come until the session ends.`
  return feed.records().size === 0 ? "Connected. No records yet." : "Connected."
}

type Props = { readonly feed: Feed; readonly isPaused: boolean; readonly base: string }

/** Says how the connection stands, in words that are read out only when they change. */
export const Status = ({ feed, isPaused, base }: Props) => {
  const state = feed.state()
  const isElsewhere = state.kind === "refused" && state.error.code === "origin-not-allowed"
  return (
    <p class={`live-status ${state.kind}`}>
      <span role="status">{isPaused ? "Paused." : textOf(feed)}</span>
      {isElsewhere && new URL(base).origin !== location.origin && (
        <>
          {" "}
          <a href={`${base}${location.pathname.slice(root.length)}`}>Open this page at {base}</a>
        </>
      )}
      {feed.changes() > 0 && <small> {feed.changes().toLocaleString()} changes since this page was opened</small>}
    </p>
  )
}
