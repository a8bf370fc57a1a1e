import pg from "pg"

export type Listening = {
  /** Calls back on every notice of the channel. */
  readonly listen: (channel: string, onNotice: () => void) => void
  readonly isOpen: () => boolean
  readonly end: () => void
}

/**
 * Listens to channels, all on one connection of its own, opened with the first. A lost connection is noticed within a
 * second and opened again; until then the callers' polls stand in for it.
 */
export const createListening = (config: pg.ClientConfig): Listening => {
  const channels = new Map<string, () => void>()
  let listening: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined

  const drop = (client: pg.Client): void => {
    client.connection.stream.destroy()
    if (listening === client) listening = undefined
  }
  const subscribe = async (client: pg.Client): Promise<void> => {
    for (const channel of channels.keys()) await client.query(`listen ${channel}`)
  }
  const check = (): void => {
    if (listening !== undefined) return
    const client = new pg.Client(config)
    listening = client
    client.on("error", () => drop(client))
    client.on("end", () => drop(client))
    client.on("notification", ({ channel }) => channels.get(channel)?.())
    client
      .connect()
      .then(() => subscribe(client))
      .catch(() => drop(client))
  }

  return {
    listen: (channel, onNotice) => {
      channels.set(channel, onNotice)
      // One that is open already knows nothing of this channel: the next has them all.
      if (listening !== undefined) drop(listening)
      timer ??= setInterval(check, 1000)
      check()
    },
    isOpen: () => listening !== undefined,
    end: () => {
      clearInterval(timer)
      if (listening !== undefined) drop(listening)
    },
  }
}
