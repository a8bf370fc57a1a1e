import fc from "fast-check"
import { expect, test } from "vitest"
import { isLoopback, loopbackNames } from "./loopback.ts"

test("this machine's names are localhost, ::1 and all of 127.0.0.0/8", () => {
  for (const name of [...loopbackNames, "::1", "LOCALHOST"]) expect(isLoopback(name)).toBe(true)
  const byte = fc.nat(255)
  fc.assert(fc.property(byte, byte, byte, (a, b, c) => isLoopback(`127.${a}.${b}.${c}`)))
})

test("a name that only looks like one doesn't count, nor does the address of all interfaces", () => {
  const names = ["localhost.example", "a.localhost", "127.0.0.1.example", "127.a.b.c", "127.1", "[::2]", "0.0.0.0"]
  for (const name of [...names, "::", "10.0.0.1", "1127.0.0.1", "localhost\n", ""]) expect(isLoopback(name)).toBe(false)
})
