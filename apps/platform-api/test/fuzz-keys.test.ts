import { full } from "@svc/testing"
import fc from "fast-check"
import { expect, test } from "vitest"
import { type TestService, testService } from "./service.ts"

const dayMs = 86_400_000
const own = "/api/agents/me/keys"

const service = testService("postgres", { SVC_FAILED_AUTH_PER_MINUTE: "0" })

test("in any order of operations, keys live, end and manage by the rules", async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("use" as const), by: fc.nat(9) }),
    fc.record({ do: fc.constant("mint" as const), by: fc.nat(9), days: fc.constantFrom(undefined, 1) }),
    fc.record({
      do: fc.constant("rotate" as const),
      by: fc.nat(9),
      target: fc.nat(9),
      overlap: fc.constantFrom(0, 105, 3003),
    }),
    fc.record({ do: fc.constant("revoke" as const), by: fc.nat(9), target: fc.nat(9) }),
    fc.record({ do: fc.constant("wait" as const), seconds: fc.constantFrom(30, 410, 1700, 90_000) }),
  )
  type Modelled = {
    readonly id: number
    readonly key: string
    readonly born: number
    end: number | undefined
    revoked: boolean
    used: boolean
    next: Modelled | undefined
  }
  const play = async (steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[]) => {
    let now = Date.now() + service.clock.offsetMs
    const signedUp = (await service.call("POST", "/api/agents/signup")).body
    const keys: Modelled[] = []
    const born = (made: { id: number; key: string }, life?: number) => {
      const end = life === undefined ? undefined : now + life
      keys.push({ ...made, born: now, end, revoked: false, used: false, next: undefined })
    }
    const at = (index: number) => keys[index % keys.length] as Modelled
    const refusal = (key: Modelled) =>
      key.revoked ? "invalid-api-key" : key.end !== undefined && key.end <= now ? "expired-api-key" : undefined
    const expectCode = async (by: Modelled, rule: () => string | null, call: ReturnType<TestService["call"]>) => {
      const answer = await call
      const refused = refusal(by)
      if (refused === undefined) by.used = true
      expect(answer.code).toBe(refused ?? rule())
      return answer
    }
    born({ id: signedUp.key_id, key: signedUp.api_key })
    for (const one of steps) {
      // A step takes less than this; and no sum of steps comes near the end of an overlap.
      now += 10_000
      service.clock.offsetMs = now - Date.now()
      if (one.do === "wait") {
        now += one.seconds * 1000
        continue
      }
      const by = at(one.by)
      if (one.do === "use") {
        await expectCode(by, () => null, service.call("GET", "/api/agents/me", { key: by.key }))
      } else if (one.do === "mint") {
        const body = one.days === undefined ? {} : { expires_in_days: one.days }
        const rule = () => (by.next === undefined ? null : "key-replaced")
        const { status, body: made } = await expectCode(by, rule, service.call("POST", own, { key: by.key, body }))
        if (status === 201) born(made, one.days === undefined ? undefined : dayMs)
      } else if (one.do === "revoke") {
        const target = at(one.target)
        const rule = () => (by.next !== undefined ? "key-replaced" : target.revoked ? "key-not-found" : null)
        const call = service.call("DELETE", `${own}/${target.id}`, { key: by.key })
        if ((await expectCode(by, rule, call)).status === 200) target.revoked = true
      } else {
        const target = at(one.target)
        const rule = () => {
          if (by.next !== undefined && by !== target) return "key-replaced"
          if (target.revoked) return "key-not-found"
          if (refusal(target) !== undefined) return "key-not-active"
          const next = target.next
          if (next === undefined) return null
          const lost = refusal(next) === undefined && !next.used && next.next === undefined
          return lost ? null : "key-already-rotated"
        }
        const call = service.call("POST", `${own}/${target.id}/rotate`, {
          key: by.key,
          body: { overlap_seconds: one.overlap },
        })
        const { status, body } = await expectCode(by, rule, call)
        if (status !== 201) continue
        const like = target.next ?? target
        born(body, like.end === undefined ? undefined : like.end - like.born)
        if (target.next !== undefined) target.next.revoked = true
        target.next = keys.at(-1)
        target.end = Math.min(target.end ?? Infinity, now + one.overlap * 1000)
      }
    }
    now += 10_000
    service.clock.offsetMs = now - Date.now()
    const known = await Promise.all(keys.map(({ key }) => service.faultOf(key)))
    expect(known).toEqual(keys.map((key) => refusal(key) ?? null))
  }
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), play), {
    numRuns: full ? 2000 : 6,
  })
})
