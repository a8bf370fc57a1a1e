import { createHash } from "node:crypto"
import type { Clock } from "../src/index.ts"
import { base58 } from "@svc/common/base58"
import { messageParts, partsOf } from "./payments.ts"
import { type Asked, ok, refused, type Said } from "./scripted-relay.ts"

const emptySlots = 100
const depths = { processed: 0, confirmed: 1, finalized: 32 }
const historyBlocks = 182

/** What becomes of a copy: after so many ms it is offered to a block; undefined: it is lost. */
export type Fate = (signature: string) => number | undefined

/** A relay's routes over a chain without accounts, which keeps what landed. Its blocks follow `clock`, 400 ms each. */
export const createFakeChain = (clock: Clock, fate: Fate = () => 100) => {
  const first = 1000
  const landed = new Map<string, { readonly height: number; readonly recipient: string }>()
  let copies: { readonly signature: string; readonly at: number; readonly made: number; readonly recipient: string }[] =
    []
  let skipped = 0

  const heightAt = (ms: number): number => first + skipped + Math.floor(ms / 400)
  const blockhashes = new Map<string, number>()
  const hashOf = (height: number): string => {
    const hash = base58(createHash("sha256").update(String(height)).digest())
    blockhashes.set(hash, height)
    return hash
  }

  const land = (now: number): void => {
    const due = copies.filter(({ at }) => at <= now)
    copies = copies.filter(({ at }) => at > now)
    for (const { signature, at, made, recipient } of due) {
      const height = heightAt(at)
      if (height - made <= 150 && !landed.has(signature)) landed.set(signature, { height, recipient })
    }
  }

  /** What a node says that is so many blocks behind. */
  const answer = ({ route, body }: Asked, behind = 0): Said => {
    land(clock.now())
    const processed = heightAt(clock.now()) - behind
    const { commitment = "confirmed" } = body as { commitment?: keyof typeof depths }
    const height = processed - depths[commitment]
    const contextSlot = String(height + emptySlots)
    if (route === "block-height") return ok({ blockHeight: String(height) })
    if (route === "latest-blockhash") {
      return ok({ blockhash: hashOf(height), contextSlot, lastValidBlockHeight: String(height + 150) })
    }
    if (route === "signature-status") {
      const found = landed.get(String(body["signature"]))
      const depth = found === undefined ? 0 : processed - found.height
      const known =
        found !== undefined && depth >= 0 && (depth <= historyBlocks || body["searchTransactionHistory"] === true)
      const status = known && {
        slot: String(found.height + emptySlots),
        confirmations: depth >= depths.finalized ? null : String(depth),
        confirmationStatus: depth >= depths.finalized ? "finalized" : depth > 0 ? "confirmed" : "processed",
        err: null,
      }
      return ok({ status: status || null, contextSlot: String(processed + emptySlots) })
    }
    if (route === "fee") {
      const made = blockhashes.get(messageParts(String(body["message"])).blockhash) ?? Infinity
      const isKnown = made <= height && height - made <= 150
      return ok({ feeLamports: isKnown ? "5000" : null, contextSlot })
    }
    const { signature, recipient, blockhash } = partsOf(String(body["transaction"]))
    const from = blockhashes.get(blockhash) ?? -Infinity
    const made = from <= processed && processed - from <= 150 ? from : undefined
    const err = made === undefined ? "BlockhashNotFound" : landed.has(signature) ? "AlreadyProcessed" : null
    if (route === "simulate") {
      const rest = { unitsConsumed: null, loadedAccountsDataSize: null, returnData: null, innerInstructions: null }
      return ok({ contextSlot, err, logs: null, ...rest, accounts: null, replacementBlockhash: null })
    }
    if (err !== null || made === undefined) return refused("upstream_rpc_error", false)
    const after = fate(signature)
    if (after !== undefined) copies.push({ signature, at: clock.now() + after, made, recipient })
    return ok({ signature })
  }

  return {
    answer,
    /** Lets so many blocks pass at once. */
    skip: (blocks: number): void => {
      land(clock.now())
      skipped += blocks
    },
    /** How many transactions a recipient got, once everything that is under way has landed or not. */
    received: (recipient: string): number => {
      land(Infinity)
      return [...landed.values()].filter((one) => one.recipient === recipient).length
    },
  }
}
