// What is known of a live connection, in words and a colour: the same on the home page, a stack's page and in the console.
import type { ConnectionState } from "@svc/client"
import { useEffect, useState } from "preact/hooks"

/** The library's states, and two that only a page has: `waiting` for a limit, `refused` until something else is asked for. */
type ConnectionKind = ConnectionState["kind"] | "waiting" | "refused"

export const goesOn = "This page goes on by itself."

const ageText = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1000))
  return seconds < 60
    ? `${seconds} s`
    : seconds < 3600
      ? `${Math.floor(seconds / 60)} min`
      : `${Math.floor(seconds / 3600)} h`
}

/** How long ago the last change came. Not part of the status: nobody wants to hear it each second. */
const Age = ({ at }: { readonly at: number }) => {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return <span class="age"> Last change {ageText(now - at)} ago.</span>
}

type Props = {
  readonly kind: ConnectionKind
  /** What is said of a connection that isn't live, or of a live one besides that it is. */
  readonly text?: string
  readonly isPaused?: boolean
  readonly changedAt?: number | undefined
}

const words: Partial<Readonly<Record<ConnectionKind, string>>> = {
  connecting: "Connecting…",
  live: "Live.",
  silent: "The server is silent.",
}

/** Says how a connection stands, in words that are read out only when they change. */
export const Connection = ({ kind, text = "", isPaused = false, changedAt }: Props) => {
  // A pause hides no fault.
  const said =
    isPaused && kind === "live" ? "Paused." : [isPaused && "Paused.", words[kind], text].filter(Boolean).join(" ")
  return (
    <>
      <span class={`dot ${isPaused && kind === "live" ? "paused" : kind}`} />
      <span role="status">{said}</span>
      {changedAt !== undefined && <Age at={changedAt} />}
    </>
  )
}
