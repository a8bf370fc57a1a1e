import { expect, test } from "vitest"
import { tools } from "../src/mcp/tools.ts"
import { call, libraryOf } from "./library.ts"

const library = libraryOf({
  index: "# Home\n\nKeys and relay.\n",
  keys: "# Keys\n\nA key.\n\n## Rotate\n\nMint a new key, then revoke the old key.\n",
  relay: "# Relay\n\nA relay takes a key.\n",
})
const nextOf = (name: string, args: object): unknown => {
  const answer = call(library, name, args)
  return "structured" in answer ? answer.structured["next_cursor"] : undefined
}

/** For each argument two calls that differ in it alone. */
const pairs: Readonly<Record<string, Readonly<Record<string, readonly [object, object]>>>> = {
  search_docs: {
    query: [{ query: "rotate" }, { query: "relay" }],
    limit: [{ query: "key" }, { query: "key", limit: 1 }],
    cursor: [
      { query: "key", limit: 1 },
      { query: "key", limit: 1, cursor: nextOf("search_docs", { query: "key", limit: 1 }) },
    ],
  },
  fetch_page: {
    slug: [{ slug: "keys" }, { slug: "relay" }],
    section: [{ slug: "keys" }, { slug: "keys", section: "rotate" }],
    cursor: [
      { slug: "keys", max_tokens: 1 },
      { slug: "keys", max_tokens: 1, cursor: nextOf("fetch_page", { slug: "keys", max_tokens: 1 }) },
    ],
    max_tokens: [{ slug: "keys" }, { slug: "keys", max_tokens: 1 }],
    sections: [{ slug: "keys" }, { slug: "keys", sections: true }],
  },
}

test.each(tools.flatMap(({ name, input }) => Object.keys(input.shape).map((argument) => [name, argument])))(
  "%s: the argument %s changes the result",
  (name = "", argument = "") => {
    const [without, other] = pairs[name]?.[argument] ?? []
    expect(without, "needs two calls that differ in the argument").toBeDefined()
    expect(call(library, name, other)).not.toEqual(call(library, name, without))
  },
)
