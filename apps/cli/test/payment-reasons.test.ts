import { SvcError } from "@svc/client"
import { expect, test } from "vitest"
import { endingJson, reasonOf } from "../src/payments/journal.ts"

test.each([
  // A look-up's advice would say of an open payment that repeating changes nothing.
  [{ status: 504, code: "upstream_timeout", message: "No response.", hint: "Repeat: it only reads.", retryable: true }],
  [{ status: 401, code: "unknown-key", message: "No.", hint: "Use another key.", retryable: false }],
])(
  "the reason of an undecided payment has its last error's advice, unless that is to repeat one request: %j",
  (error) => {
    const ending = { state: "undecided" as const, signature: "any", lastError: new SvcError(error) }
    const { code, message, hint, retryable } = error
    expect(endingJson(ending)).toHaveProperty("lastError.hint", retryable ? undefined : hint)
    expect(reasonOf(ending)).toBe(retryable ? `${message} (${code})` : `${message} (${code}) ${hint}`)
  },
)
