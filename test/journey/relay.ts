import { strict as assert } from "node:assert"
import { z } from "zod"

/** The relay over HTTP with one session token; an answer with another status than the wanted one throws. */
export const createRelayClient =
  (url: string, token: string) =>
  async <T>(route: string, body: object, shape: z.ZodType<T>, wanted = 200): Promise<T> => {
    const response = await fetch(`${url}/transactions/v1/${route}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    })
    const answer: unknown = await response.json()
    assert.equal(response.status, wanted, `${route}: ${JSON.stringify(answer)}`)
    return shape.parse(answer)
  }

export const latestShape = z.object({ blockhash: z.string(), lastValidBlockHeight: z.string() })
export const feeShape = z.object({ feeLamports: z.string() })
export const simulationShape = z.object({ err: z.null(), unitsConsumed: z.string() })
export const sentShape = z.object({ signature: z.string() })
export const statusShape = z.object({
  status: z.object({ slot: z.string(), confirmationStatus: z.string(), err: z.null() }).nullable(),
})
export const heightShape = z.object({ blockHeight: z.string() })
export const errorShape = z.object({ code: z.string() })
