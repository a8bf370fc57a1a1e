import fc from "fast-check"
import { expect, test } from "vitest"

import { readableLine } from "./log-line.ts"

test("a logger's line shows time, level, text and fields", () => {
  const line = {
    level: "info",
    time: "2026-01-02T03:04:05.678Z",
    service: "relay",
    status: 404,
    route: "/x",
    msg: "request",
  }
  expect(readableLine(JSON.stringify(line))).toBe("03:04:05 INFO  request status=404 route=/x")
})

test("a successful request isn't shown at a terminal", () => {
  const line = JSON.stringify({ level: "info", status: 304, msg: "request" })
  expect(readableLine(line, true)).toBeUndefined()
  expect(readableLine(line)).toBe("INFO  request status=304")
})

test("a logged error shows its message", () => {
  const line = { level: "error", msg: "failed", err: { type: "Error", message: "no answer", stack: "…" } }
  expect(readableLine(JSON.stringify(line))).toBe("ERROR failed error=no answer")
})

test("anything but a log line is shown unchanged", () => {
  fc.assert(fc.property(fc.string(), (text) => readableLine(text) === text))
  fc.assert(fc.property(fc.json(), (text) => readableLine(text) === text))
})

test("text that others wrote stays on the line and controls nothing", () => {
  const line = {
    level: "warn",
    time: "",
    msg: "a\u001b]0;t\u0007\r\nb",
    name: "c\u202ed\u009b31m",
    err: { message: "e\u2028f" },
  }
  expect(readableLine(JSON.stringify(line))).toBe("WARN  a ]0;t b name=cd 31m error=e f")
})
