// Checks the keys of open streams again, all at once, when any key changes.
import { setTimeout as rest } from "node:timers/promises"
import type { Context } from "hono"
import { coalesce } from "../coalesce.ts"
import { authenticate, readKey } from "./authenticate.ts"
import type { AppEnv } from "./guard.ts"

/** The channel on which the database announces that a key or an account was disabled. */
export const keyChannel = "svc_keys"

export type KeyWatch = ReturnType<typeof createKeyWatch>

const restMs = 500

export const createKeyWatch = () => {
  const checks = new Set<() => Promise<void>>()
  return {
    /** Calls `check` after every change of a key. The returned function ends that. */
    watch: (check: () => Promise<void>): (() => void) => {
      checks.add(check)
      return () => void checks.delete(check)
    },
    /** Calls all checks, which look up their keys in one query. */
    check: coalesce(async () => {
      if (checks.size === 0) return
      await Promise.all([...checks].map((check) => check()))
      // Several keys may change in succession.
      await rest(restMs, undefined, { ref: false })
    }),
  }
}

/** Returns a check of whether the key of a request is still valid. Throws DatabaseUnavailable. */
export const keyCheck = (c: Context<AppEnv>): (() => Promise<boolean>) => {
  const { findKey, wallClock } = c.get("dependencies")
  const key = readKey(c.req.header("authorization"))
  const origin = c.req.header("origin")
  return async () => {
    if ("refused" in key) return false
    return !("refused" in (await authenticate(findKey, key, { origin, now: wallClock(), isSuspect: false })))
  }
}
