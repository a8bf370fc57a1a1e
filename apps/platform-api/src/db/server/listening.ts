import type { Session } from "./session.ts"

type Open = (events: {
  readonly first: string
  readonly onNotice: (channel: string) => void
  readonly onEnd: () => void
}) => Promise<Session>

/**
 * Listens to all channels in one session. A lost connection is reopened within a second. Until then the callers rely on
 * polling. There is never a second connection: the next one is opened after the last one is closed.
 */
export const createListening = (open: Open) => {
  const channels = new Map<string, () => void>()
  let session: Promise<Session> | undefined
  let timer: NodeJS.Timeout | undefined

  const check = (): void => void (session ??= begin())
  const begin = (): Promise<Session> => {
    const opening = open({
      first: [...channels.keys()].map((channel) => `listen ${channel}`).join("; "),
      onNotice: (channel) => channels.get(channel)?.(),
      onEnd: () => (session = undefined),
    })
    // Notifications may have been missed while no session listened.
    opening.then(
      () => channels.forEach((onNotice) => onNotice()),
      () => {},
    )
    return opening
  }
  const add = async (opening: Promise<Session>, channel: string, onNotice: () => void): Promise<void> => {
    const { ask, destroy } = await opening
    // The next session listens to all channels.
    await ask(`listen ${channel}`).then(onNotice, destroy)
  }

  return {
    /** Calls back on every notification of the channel, and whenever listening restarts. */
    listen: (channel: string, onNotice: () => void): void => {
      channels.set(channel, onNotice)
      timer ??= setInterval(check, 1000)
      if (session === undefined) check()
      else add(session, channel, onNotice).catch(() => {})
    },
    isOpen: (): boolean => session !== undefined,
    end: (): void => {
      clearInterval(timer)
      session?.then(({ destroy }) => destroy()).catch(() => {})
    },
  }
}
