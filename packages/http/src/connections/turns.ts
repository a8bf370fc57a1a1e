// A request takes from a tenth of a millisecond to a few, and a turn accepts one connection.
const mostPerTurn = 8

/**
 * Begins what clients ask for: at most so much in a turn of the event loop, and of each client in turn. So what one client or
 * many have sent ahead doesn't keep others from being read.
 */
export const createTurns = () => {
  const due = new Map<string, (() => void)[]>()
  let begun = 0
  const turn = (): void => {
    begun = 0
    for (const [client, own] of due) {
      if (begun === mostPerTurn) break
      const begin = own.shift()
      due.delete(client)
      // Behind all others.
      if (own.length > 0) due.set(client, own)
      begun++
      begin?.()
    }
    if (begun > 0) setImmediate(turn)
  }
  return (client: string, begin: () => void): void => {
    if (begun === mostPerTurn || due.size > 0) return void due.getOrInsertComputed(client, () => []).push(begin)
    if (begun++ === 0) setImmediate(turn)
    begin()
  }
}
