import type { createFakeChain } from "./fake-chain.ts"
import { type Asked, ok, type Said } from "./scripted-relay.ts"

type Chain = Pick<ReturnType<typeof createFakeChain>, "answer">

const lag = 40
const isLookUp = ({ route }: Asked): boolean => route === "signature-status"

/** Ways in which the nodes behind a provider's URL tell less than the chain holds. What is sent reaches the chain all the same. */
export const lies: Readonly<Record<string, (chain: Chain) => (asked: Asked) => Said>> = {
  "tells the truth": (chain) => chain.answer,
  "lags behind": (chain) => (asked) => chain.answer(asked, asked.route === "send" ? 0 : lag),
  "looks up at a node that lags behind": (chain) => (asked) => chain.answer(asked, isLookUp(asked) ? lag : 0),
  "asks a node that lags behind for blockhashes": (chain) => (asked) =>
    chain.answer(asked, asked.route === "fee" ? lag : 0),
  "balances between two nodes, one of which lags behind": (chain) => {
    let turn = 0
    return (asked) => chain.answer(asked, asked.route === "send" ? 0 : (turn++ % 2) * lag)
  },
  "balances look-ups between two nodes, one of which has lost its history": (chain) => {
    let turn = 0
    return (asked) => {
      const said = chain.answer(asked)
      if (!isLookUp(asked) || typeof said === "string" || turn++ % 2 === 0) return said
      return ok({ ...Object(said.body), status: null })
    }
  },
  ...Object.fromEntries(
    [2, 3, 6].flatMap((nodes) =>
      Array.from({ length: nodes }, (_, kept) => [
        `takes ${nodes} nodes in turns, of which only number ${kept + 1} has the history`,
        (chain: Chain) => {
          let turn = 0
          return (asked: Asked) => {
            const said = chain.answer(asked)
            if (turn++ % nodes === kept || !isLookUp(asked) || typeof said === "string") return said
            return ok({ ...Object(said.body), status: null })
          }
        },
      ]),
    ),
  ),
  "follows a fork that doesn't know the blockhash": (chain) => (asked) => {
    const said = chain.answer(asked)
    if (asked.route !== "fee" || asked.body["commitment"] !== "processed" || typeof said === "string") return said
    return ok({ ...Object(said.body), feeLamports: null })
  },
  "can't tell whether a blockhash is valid": (chain) => (asked) =>
    asked.route === "fee"
      ? { status: 502, body: { code: "upstream_rpc_error", message: "No such method.", retryable: false } }
      : chain.answer(asked),
}
