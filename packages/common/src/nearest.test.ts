import fc from "fast-check"
import { expect, test } from "vitest"
import { nearest } from "./nearest.ts"

test("the intended name is the nearest after one typo (a letter more, less, other, or two swapped)", () => {
  const names = ["airdrops", "name-service", "stake-accounts", "token-swaps", "transfers"]
  fc.assert(
    fc.property(
      fc.constantFrom(...names),
      fc.nat(20),
      fc.constantFrom("more", "less", "other", "swap"),
      (name, at, slip) => {
        const i = at % (name.length - 1)
        const rest = name.slice(i + 1)
        const typed = {
          more: `${name.slice(0, i)}x${name.slice(i)}`,
          less: name.slice(0, i) + rest,
          other: `${name.slice(0, i)}x${rest}`,
          swap: name.slice(0, i) + rest.charAt(0) + name.charAt(i) + rest.slice(1),
        }[slip]
        expect(nearest(typed, names)[0]).toBe(name)
        expect(nearest(typed.toUpperCase(), names)[0]).toBe(name)
      },
    ),
  )
})

test("part of a name finds it, a swap is nearer than two changes, and unrelated text finds nothing", () => {
  expect(nearest("stake", ["snake", "stake-accounts"])[0]).toBe("stake-accounts")
  expect(nearest("abdc", ["abxx", "abcd"])[0]).toBe("abcd")
  expect(nearest("x", [])).toEqual([])
  fc.assert(
    fc.property(fc.string(), fc.array(fc.string()), (text, names) => {
      const found = nearest(text, names)
      expect(found.length).toBe(Math.min(3, names.length))
      expect(found.every((name) => names.includes(name))).toBe(true)
    }),
  )
})
