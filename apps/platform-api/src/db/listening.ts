import pg from "pg"

/**
 * Listens to a channel on a connection of its own. A lost connection is noticed within a second and opened again; until
 * then the caller's poll stands in for it. Gives what ends it.
 */
export const startListening = (config: pg.ClientConfig, channel: string, onNotice: () => void): (() => void) => {
  let listening: pg.Client | undefined
  const check = (): void => {
    if (listening !== undefined) return
    const client = new pg.Client(config)
    listening = client
    const drop = (): void => {
      client.connection.stream.destroy()
      if (listening === client) listening = undefined
    }
    client.on("error", drop)
    client.on("end", drop)
    client.on("notification", onNotice)
    client
      .connect()
      .then(() => client.query(`listen ${channel}`))
      .catch(drop)
  }
  const timer = setInterval(check, 1000)
  check()
  return () => {
    clearInterval(timer)
    listening?.connection.stream.destroy()
  }
}
