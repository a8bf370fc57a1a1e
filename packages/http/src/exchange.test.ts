import { expect, test } from "vitest"
import { type Exchange, sentPath } from "./index.ts"

test.each([
  ["/a/../b", "/a/../b"],
  ["/./b", "/./b"],
  ["/%62", "/%62"],
  ["//b", "//b"],
  ["/b/", "/b/"],
  ["/B?c=/d#e", "/B"],
  ["http://host.example/a/../b?c", "/a/../b"],
  ["http://host.example", "/"],
])("the path of the request target %s is %s, as it was sent", (target, path) => {
  const env = { incoming: { url: target } as Exchange["incoming"] }
  expect(sentPath({ url: "http://host.example/b" }, { env })).toBe(path)
})
