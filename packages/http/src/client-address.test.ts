import fc from "fast-check"
import { anyCharacter } from "@svc/testing"
import { expect, test } from "vitest"
import { addressBucket, bucketNetwork, createClientAddress } from "./client-address.ts"

const trusted = [
  { address: "10.0.0.0", prefix: 8, family: "ipv4" },
  { address: "fd00::", prefix: 8, family: "ipv6" },
] as const
const clients = createClientAddress(trusted)

test("a forwarding header from an untrusted peer changes nothing, and is reported once", () => {
  const reports: object[] = []
  const wary = createClientAddress(trusted, { warn: (fields: object) => void reports.push(fields) })
  expect(wary.of("192.0.2.1", "203.0.113.9")).toBe("192.0.2.1")
  expect(wary.of("192.0.2.2", "203.0.113.9")).toBe("192.0.2.2")
  expect(reports).toEqual([{ peer: "192.0.2.1" }])
})

test("trusted proxies and this machine decide which traces are kept", () => {
  const peers = ["10.0.0.1", "::ffff:10.0.0.1", "fd00::1", "127.0.0.1", "127.1.2.3", "::ffff:127.0.0.1", "::1"]
  expect(peers.filter((peer) => !clients.trustsTraces(peer))).toEqual([])
  for (const peer of ["203.0.113.9", "2001:db8::1", undefined]) expect(clients.trustsTraces(peer)).toBe(false)
})

test.each([
  ["203.0.113.9", "203.0.113.9"],
  ["6.6.6.6, 203.0.113.9", "203.0.113.9"],
  ["203.0.113.9, 10.9.9.9", "203.0.113.9"],
  ["203.0.113.9,fd12::7, 10.9.9.9", "203.0.113.9"],
  ["10.1.1.1, 10.2.2.2", "10.1.1.1"],
  ["203.0.113.9:4711", "203.0.113.9"],
  ["[2001:DB8::1]:443", "2001:db8::1"],
  ["[2001:db8::1]", "2001:db8::1"],
  ["::ffff:203.0.113.9", "203.0.113.9"],
  ["::FFFF:cb00:7109", "203.0.113.9"],
  ["203.0.113.9, nonsense", "10.0.0.1"],
  ["203.0.113.9, ", "10.0.0.1"],
  ["203.0.113.9, unknown, 10.2.2.2", "10.2.2.2"],
  ["203.0.113.9, 10.2.2.999", "10.0.0.1"],
  ["", "10.0.0.1"],
])("behind a trusted peer %j means %s", (header, expected) => {
  expect(clients.of("10.0.0.1", header)).toBe(expected)
  expect(clients.of("::ffff:10.0.0.1", header)).toBe(expected)
})

test("without a header the peer is the client; a disconnected peer still has an address", () => {
  expect(clients.of("::ffff:192.0.2.1", undefined)).toBe("192.0.2.1")
  expect(clients.of("fe80::1%eth0", undefined)).toBe("fe80::1")
  expect(clients.of(undefined, "203.0.113.9")).toBe("0.0.0.0")
})

test("whatever a header contains, the result is an address", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom("10.0.0.1", "192.0.2.1", "fd00::1"),
      (header, peer) => {
        const address = clients.of(peer, header)
        expect(address).toMatch(/^[0-9a-f.:]+$/)
        expect(addressBucket(address)).not.toBe("")
      },
    ),
  )
})

test("IPv6 counts by its /64 and /48, IPv4 by the address", () => {
  expect(addressBucket("192.0.2.1")).toBe("192.0.2.1")
  for (const address of ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"])
    expect(addressBucket(address)).toBe("20010db800010002/64")
  expect(bucketNetwork(addressBucket("2001:db8:1:3::"))).toBe("20010db80001/48")
  expect(bucketNetwork("192.0.2.1")).toBe("192.0.2.1")
})
