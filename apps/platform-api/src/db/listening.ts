import type { Session } from "./session.ts"

export type Listening = {
  /** Calls back on every notice of the channel, and whenever listening begins anew. */
  readonly listen: (channel: string, onNotice: () => void) => void
  readonly isOpen: () => boolean
  readonly end: () => void
}

type Open = (events: {
  readonly first: string
  readonly onNotice: (channel: string) => void
  readonly onEnd: () => void
}) => Promise<Session>

/**
 * Listens to channels in one session of its own, opened with the first. A lost connection is noticed within a second and
 * opened again; until then the callers' polls stand in for it.
 */
export const createListening = (open: Open): Listening => {
  const channels = new Map<string, () => void>()
  let session: Promise<Session> | undefined
  let timer: NodeJS.Timeout | undefined

  const drop = (one = session): void => {
    if (session === one) session = undefined
    one?.then((opened) => opened.destroy()).catch(() => {})
  }
  const check = (): void => {
    if (session !== undefined) return
    const first = [...channels.keys()].map((channel) => `listen ${channel}`).join("; ")
    const opening = open({
      first,
      onNotice: (channel) => channels.get(channel)?.(),
      onEnd: () => drop(opening),
    })
    // Nobody knows what was announced while no session listened.
    opening.then(
      () => channels.forEach((onNotice) => onNotice()),
      () => drop(opening),
    )
    session = opening
  }

  return {
    listen: (channel, onNotice) => {
      channels.set(channel, onNotice)
      // A session that is open doesn't listen to this channel: the next one listens to all.
      drop()
      timer ??= setInterval(check, 1000)
      check()
    },
    isOpen: () => session !== undefined,
    end: () => {
      clearInterval(timer)
      drop()
    },
  }
}
