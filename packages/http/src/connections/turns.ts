// A request takes from a tenth of a millisecond to a few.
const mostPerTurn = 32

/**
 * Begins what clients ask for: at most so much in a turn of the event loop, and of each client in turn. So what one client or
 * many have sent ahead doesn't keep others from being read. Nor from being accepted: a turn accepts one connection, so while there
 * are new ones each turn begins one request.
 * @param accepted how many connections were accepted so far
 */
export const createTurns = (accepted: () => number) => {
  const due = new Map<string, (() => void)[]>()
  let begun = 0
  let most = mostPerTurn
  let before = 0
  const turn = (): void => {
    begun = 0
    most = accepted() > before ? 1 : mostPerTurn
    before = accepted()
    for (const [client, own] of due) {
      if (begun === most) break
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
    if (begun >= most || due.size > 0) return void due.getOrInsertComputed(client, () => []).push(begin)
    if (begun++ === 0) setImmediate(turn)
    begin()
  }
}
