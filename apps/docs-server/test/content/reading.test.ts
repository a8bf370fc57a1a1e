// The other tests of the pages are only worth what this reading finds.
import { expect, test } from "vitest"
import { curlRequest, shellWords } from "./command-line.ts"
import { differences, httpDifferences, shownJson } from "./compare-response.ts"
import { stepsOf } from "./steps.ts"

const values = (entries: Readonly<Record<string, string>> = {}) => new Map(Object.entries(entries))

test("a command is parsed as a shell and curl would parse it", () => {
  const command = String.raw`curl -X PUT 'http://a.test/x?q=1 2' -H "Authorization: Bearer $KEY" \
  --json "{\"a\": \"$KEY\", \"b\": \"\$\"}"`
  expect(curlRequest(shellWords(command, values({ KEY: "k" })))).toEqual({
    url: "http://a.test/x?q=1 2",
    method: "PUT",
    headers: [
      ["authorization", "Bearer k"],
      ["content-type", "application/json"],
      ["accept", "application/json"],
    ],
    body: '{"a": "k", "b": "$"}',
  })
  expect(shellWords("curl 'a'\"b\"c '' $NONE", values({ NONE: "" }))).toEqual(["curl", "abc", "", ""])
})

test.each([["curl 'http://a.test"], ["curl http://a.test $UNKNOWN"], ["curl http://a.test --silent"], ["curl -X PUT"]])(
  "a command that can't be run as written is rejected: %s",
  (command) => {
    expect(() => curlRequest(shellWords(command, values()))).toThrow(
      /can't read|has no value|unknown word|lacks its value|without a URL/,
    )
  },
)

test("a command without a response is rejected, and so is a response without a command", () => {
  const command = "```sh\ncurl http://a.test\n```\n"
  const answer = "```http\nHTTP/1.1 200 OK\n```\n"
  expect(stepsOf(command + answer)).toHaveLength(1)
  expect(() => stepsOf(command)).toThrow("line 1")
  expect(() => stepsOf(`${command}\`\`\`json\n{}\n\`\`\`\n`)).toThrow("line 1")
  expect(() => stepsOf(answer + command + answer)).toThrow("line 1")
})

test.each([
  ["a text, exactly", "a", "a", "b"],
  ["a number, exactly", 1, 1, 2],
  ["nothing but null", null, null, ""],
  ["every key", { a: 1, b: 2 }, { b: 2, a: 1 }, { a: 1 }],
  ["no other key", { a: 1 }, { a: 1 }, { a: 1, b: 2 }],
  ["the same number of elements", [1], [1], [1, 1]],
  ["more elements where some are left out", [1, "…"], [1, 2], [1]],
  ["the keys shown where some are left out", { a: 1, "…": "…" }, { a: 1, b: 2 }, { b: 2 }],
  ["a time for a time", { at: "2026-01-01T00:00:00.000Z" }, { at: "2026-02-02T02:02:02.222Z" }, { at: "soon" }],
  ["a key's hint for a key's hint", "svc_ak_…a1b2", "svc_ak_…a1b2", "svc_pk_…a1b2"],
  ["a slot for a slot", { slot: "12" }, { slot: "99" }, { slot: 99 }],
  ["some text or number for a placeholder", "<A>", "x", ""],
  ["the same for the same placeholder", ["<A>", "<A>"], ["x", "x"], ["x", "y"]],
])("a page's example promises %s", (_, promised, kept, broken) => {
  expect(differences(promised, kept, values())).toEqual([])
  expect(differences(promised, broken, values())).not.toEqual([])
})

test("a placeholder may stand for a number, and its value can be used in later commands", () => {
  const known = values()
  expect(differences(shownJson('{"id": <KEY_ID>, "ids": [<KEY_ID>]}'), { id: 7, ids: [7] }, known)).toEqual([])
  expect(known).toEqual(values({ KEY_ID: "7" }))
})

test("every line that a text shows must occur, from beginning to end unless `…` says otherwise", () => {
  const headers = new Headers({ "content-type": "text/plain" })
  const compare = (shown: string, body: string) =>
    httpDifferences(`HTTP/1.1 200 OK\nContent-Type: text/plain\n\n${shown}`, { status: 200, headers, body }, new Map())
  for (const shown of ["one two three", "one\n…", "…\nthree", "…\ntwo\n…", "one\n…\nthree", "…"])
    expect(compare(shown, "one two three"), shown).toEqual([])
  for (const shown of ["one two", "two three", "three\n…\none", "…\nfour\n…"])
    expect(compare(shown, "one two three"), shown).toHaveLength(1)
  expect(compare("…", "")).toHaveLength(1)
})

test("status, headers and body of a response are all compared", () => {
  const promised = 'HTTP/1.1 404 Not Found\nX-Error-Code: gone\n\n{ "code": "gone" }\n'
  const answer = (status: number, code: string, body: string) =>
    httpDifferences(promised, { status, headers: new Headers({ "x-error-code": code }), body }, values())
  expect(answer(404, "gone", '{"code":"gone"}')).toEqual([])
  expect(answer(410, "gone", '{"code":"gone"}')).toHaveLength(1)
  expect(answer(404, "other", '{"code":"gone"}')).toHaveLength(1)
  expect(answer(404, "gone", '{"code":"other"}')).toHaveLength(1)
  expect(answer(404, "gone", "gone")).toHaveLength(1)
  const empty = { status: 304, headers: new Headers(), body: "" }
  expect(httpDifferences("HTTP/1.1 304 Not Modified\n", empty, values())).toEqual([])
  expect(httpDifferences("HTTP/1.1 304 Not Modified\n", { ...empty, body: "{}" }, values())).toHaveLength(1)
  expect(httpDifferences("HTTP/1.1 304 Unchanged\n", empty, values())).toHaveLength(1)
})
