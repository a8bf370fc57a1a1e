import { expect, test } from "vitest"
import { acceptsGzip, matchesETag, wantsEventStream } from "./negotiate.ts"

test.each([
  [undefined, false],
  ["", false],
  ["gzip", true],
  ["gzip, deflate, br", true],
  ["br;q=1, GZip;q=0.5", true],
  ["x-gzip", true],
  ["*", true],
  ["gzip;q=0", false],
  ["gzip; q=0.000, *", false],
  ["gzip;q=high", false],
  ["br, *;q=0", false],
  ["gzipped", false],
])("an Accept-Encoding of %j accepts gzip: %j", (header, takes) => {
  expect(acceptsGzip(header)).toBe(takes)
})

test.each([
  [undefined, false],
  ["*", true],
  ['"a"', true],
  ['"a-gzip"', true],
  ['"c", W/"b-br"', true],
  ['"c-gzip"', false],
  ['W/"a"', true],
  ['"x", W/"b" ', true],
  ['"x"', false],
  ["a", false],
  ["", false],
])("an If-None-Match of %j matches: %j", (header, named) => {
  expect(matchesETag(header, ['"a"', '"b"'])).toBe(named)
})

test.each([
  [undefined, false],
  ["*/*", false],
  ["application/json", false],
  ["text/event-stream", true],
  ["TEXT/EVENT-STREAM", true],
  ["text/event-stream, */*", true],
  ["text/event-stream, application/json", false],
  ["application/json, text/event-stream", false],
  ["application/json;q=0.5, text/event-stream", true],
  ["application/json, text/event-stream;q=0.9", false],
  ["text/event-stream;q=0", false],
  ["text/*", false],
])("an Accept of %s asks for a stream: %s", (accept, wanted) => {
  expect(wantsEventStream(accept)).toBe(wanted)
})
