import fc from "fast-check"
import { anyCharacter } from "@svc/testing"
import { expect, test } from "vitest"
import { createQueryReader } from "../src/search/query.ts"
import { createVocabulary } from "../src/search/vocabulary.ts"
import { runs } from "./fuzz-runs.ts"
import { ask, call, libraryOf } from "./library.ts"

const library = libraryOf({
  index: "# Documentation\n\nStart here. Keys, errors and limits have pages of their own.\n",
  keys: "# API keys\n\nA secret key authenticates an agent.\n\n## Rotation\n\nMint a new key, then revoke the old one.\n",
  errors:
    "# Errors\n\nEvery error has a code.\n\n## Table\n\n| Status | Code | Meaning |\n|---|---|---|\n| 403 | `agent-account-forbidden` | The endpoint is closed to agents |\n| 429 | `rate-limit-exceeded` | Wait |\n",
  settings:
    "# Settings\n\nOf the `HTTPServer`.\n\n| Variable | Default |\n|---|---|\n| `SVC_ALLOWED_HOSTS` | empty |\n| `SVC_LOG_LEVEL` | info |\n",
  chain: "# Blocks\n\nCall `getBlockHeight` with `c.req.json()`.\n\n## Fees\n\nThe fee of a message.\n",
  "guides/paging": "# Paging\n\nLists are cut in pages. Follow the cursor.\n",
  placeholders:
    '# Placeholders\n\nSend `Bearer <API_KEY>` to the <b>gate</b>.\n\n## Reply\n\n```json\n{\n  "lantern": "<HASH>"\n}\n```\n',
  japanese: "# 認証\n\n東京で鍵を回転する方法。\n",
})

type Results = {
  results: { slug: string; anchor: string; snippet: string; url: string }[]
  total: number
  did_you_mean?: string
}
const search = (query: string, more: object = {}): Results => {
  const found = ask(library, "search_docs", { query, ...more })
  return found as Results
}
const first = (query: string) => search(query).results[0]

test.each([
  ["rotate api keys", "keys"],
  ["revoking", "keys"],
  ["agent-account-forbidden", "errors"],
  ["SVC_ALLOWED_HOSTS", "settings"],
  ["getBlockHeight", "chain"],
  ["block height", "chain"],
  ["height", "chain"],
  ["server", "settings"],
  ["c.req.json", "chain"],
  ["guides/paging", "guides/paging"],
  ["回転", "japanese"],
])("%s finds %s first", (query, slug) => {
  expect(first(query)?.slug).toBe(slug)
})

test("the best section is named, with a snippet that has the words", () => {
  expect(first("mint a new key")).toMatchObject({
    slug: "keys",
    anchor: "rotation",
    url: "https://docs.example/keys.md#rotation",
    snippet: "Mint a new key, then revoke the old one.",
  })
})

test("a snippet keeps placeholders in code", () => {
  expect(first("gate")?.snippet).toBe("Send Bearer <API_KEY> to the gate.")
  expect(first("lantern")?.snippet).toBe('{ "lantern": "<HASH>" }')
})

test("a word that no page has is replaced by the nearest, and the corrected query is shown", () => {
  expect(search("rotaton of keys")).toMatchObject({ did_you_mean: "Rotation of keys" })
  expect(search("rotaton of keys").results[0]?.slug).toBe("keys")
  expect(search("rotation of keys").did_you_mean).toBeUndefined()
})

const slugsFor = (pages: Readonly<Record<string, string>>, query: string): string[] =>
  (ask(libraryOf(pages), "search_docs", { query }) as Results).results.map(({ slug }) => slug)

test("a number is found with and without thousands separators", () => {
  const numbers = { size: "# Size\n\nAt most 1,232 bytes.\n", list: "# List\n\nOne of [100,200,300,1].\n" }
  for (const query of ["1232", "1,232", "1,232 bytes"]) expect(slugsFor(numbers, query)).toEqual(["size"])
  expect(slugsFor(numbers, "200")).toEqual(["list"])
})

test("rephrased queries get the same hits; a misspelt one gets its own correction", () => {
  const expected = search("rotate the API keys").results
  expect(expected).not.toEqual([])
  expect(search("How do I rotate an API key?").results).toEqual(expected)
  expect(search("rotatoin of keys").did_you_mean).toBe("Rotation of keys")
})

const inOtherForms: Record<string, { pages: Record<string, string>; queries: Record<string, string> }> = {
  Korean: {
    pages: {
      auth: "# 인증\n\n토큰으로 인증을 받습니다.\n",
      deploy: "# 배포\n\n데이터베이스를 배포합니다. API는 느립니다.\n",
    },
    queries: {
      인증은: "auth",
      토큰이: "auth",
      토큰: "auth",
      배포에서: "deploy",
      데이터: "deploy",
      데이터베이스에서: "deploy",
      API: "deploy",
    },
  },
  Japanese: {
    pages: { server: "# サーバー\n\n設定を読み込む。\n", keys: "# 鍵\n\nアルゴリズムを選ぶ。\n" },
    queries: { サーバ: "server", 設定: "server", アルゴリズ: "keys" },
  },
  Russian: {
    pages: { keys: "# Ключ\n\nКаждый ключ открывает замок.\n", library: "# Библиотека\n\nСписок книг.\n" },
    queries: { ключами: "keys", КЛЮЧА: "keys", библиотеками: "library", библ: "library" },
  },
  German: {
    pages: {
      database: "# Datenbankverbindungen\n\nDie Straße zum Server.\n",
      lock: "# Schloss\n\nEin Schlüssel genügt.\n",
    },
    queries: {
      Datenbank: "database",
      Schlossverwaltung: "lock",
      strasse: "database",
      STRASSE: "database",
      Straße: "database",
      Schlüsseln: "lock",
      schlussel: "lock",
    },
  },
  Finnish: {
    pages: { house: "# Talo\n\nVanha talo.\n", settings: "# Asetukset\n\nKaikki asetukset.\n" },
    queries: { talossa: "house", asetuksissa: "settings", asetus: "settings", asetuk: "settings" },
  },
  Turkish: {
    pages: { city: "# İstanbul\n\nIşık ve gölge.\n", other: "# Başka\n\nBir şey.\n" },
    queries: { istanbul: "city", ISTANBUL: "city", ışık: "city", IŞIK: "city" },
  },
  Greek: {
    pages: { road: "# Οδός\n\nΜια οδός.\n", other: "# Πόλη\n\nΜια πόλη.\n" },
    queries: { ΟΔΟΣ: "road", οδός: "road", Οδοσ: "road" },
  },
}
test.each(Object.entries(inOtherForms))("%s words are found in other forms", (_, { pages, queries }) => {
  for (const [query, slug] of Object.entries(queries)) expect(slugsFor(pages, query), query).toEqual([slug])
})

test("a half-typed identifier finds the whole one, ranked below pages with exactly what was typed", () => {
  const pages = {
    chain: "# Chain\n\nCall `getLatestBlockhash`.\n",
    other: "# Fees\n\nCall `getFees` for the latest.\n",
  }
  for (const query of ["getlatestb", "getLatestB", "getLatestBlock"])
    expect(slugsFor(pages, query)[0], query).toBe("chain")
  expect(slugsFor({ ...pages, exact: "# Draft\n\nAbout getlatestb.\n" }, "getlatestb")[0]).toBe("exact")
})

test("signs after a letter belong to the word, and a version is one word", () => {
  const pages = {
    card: "# Card\n\nOne card, 1 page, 2 or 3 or 4 betas.\n",
    cpp: "# Bindings\n\nFor C++ and g++.\n",
    sharp: "# Others\n\nFor C\\#, F# and Objective-C++.\n",
    ten: "# 10 rules of beta\n\n1. One\n2. Two\n3. Three\n",
    release: "# Releases\n\nNew in v1.2.3-beta.4.\n",
    later: "# Later\n\nNew in 1.20.1.\n",
  }
  for (const query of ["C++", "c++", "g++", "C++17"]) expect(slugsFor(pages, query), query).toEqual(["cpp"])
  for (const query of ["C#", "f#", "objective-c++"]) expect(slugsFor(pages, query), query).toEqual(["sharp"])
  for (const query of ["1.2.3-beta.4", "v1.2.3-beta.4", "1.2.3"])
    expect(slugsFor(pages, query), query).toEqual(["release"])
})

test("a known word is never matched fuzzily", () => {
  expect(search("fee").results.map(({ slug }) => slug)).toEqual(["chain"])
})

test.each([
  ["how do I the of", "only common words"],
  ["🚀 ->", "or signs"],
  ["zzzzqqqq", "https://docs.example/llms.txt"],
])("%j finds nothing, which is an empty list with a hint, not an error", (query, hint) => {
  const answer = call(library, "search_docs", { query })
  expect(answer).toMatchObject({ structured: { results: [], total: 0 } })
  expect("texts" in answer && answer.texts[0]).toContain(hint)
})

test("the number of letters compared for a query is limited, however long the query is", () => {
  let state = 1
  const word = (): string =>
    Array.from({ length: 8 }, () => {
      state = (state * 48_271) % 2_147_483_647
      return String.fromCharCode(97 + (state % 26))
    }).join("")
  const written = new Map(Array.from({ length: 11_000 }, () => [word(), { times: 1 }] as const))
  const vocabulary = createVocabulary(written)
  const nonsense = Array.from({ length: 66 }, word).join(" ")
  const one = { steps: 0, most: Number.POSITIVE_INFINITY }
  const readQuery = createQueryReader(new Map(), () => vocabulary)
  readQuery(word(), one)
  const all = { steps: 0, most: 400_000 }
  readQuery(nonsense, all)
  expect(all.steps).toBeGreaterThan(one.steps)
  expect(all.steps).toBeLessThan(all.most + 8 * 11)
})

test("a misspelt identifier is corrected to the page's spelling, even if only one part is wrong", () => {
  expect(search("agent-acount-forbiden")).toMatchObject({ did_you_mean: "agent-account-forbidden" })
  expect(search("getBlokHeight")).toMatchObject({ did_you_mean: "getBlockHeight" })
  expect(first("getBlokHeight")?.slug).toBe("chain")
  expect(search("secret-autenticates")).toMatchObject({ did_you_mean: "secret-authenticates" })
})

test("results don't end in pages that share only a common word with the query", () => {
  const { results, total } = search("mint a new key and revoke the old one")
  expect(results.map(({ slug }) => slug)).toEqual(["keys"])
  expect(total).toBe(1)
})

test("following cursors returns every result once, in the order of one long list", () => {
  const all = search("key error page code agent list", { limit: 20 })
  const seen: string[] = []
  let cursor: unknown
  do {
    const part = ask(library, "search_docs", {
      query: "key error page code agent list",
      limit: 2,
      ...(cursor !== undefined && { cursor }),
    })
    seen.push(...(part as Results).results.map(({ slug }) => slug))
    cursor = part["next_cursor"]
  } while (cursor !== undefined)
  expect(seen).toEqual(all.results.map(({ slug }) => slug))
  expect(seen).toHaveLength(all.total)
})

test("a cursor of another query or other pages, or a damaged one is rejected with a clear message", () => {
  const { next_cursor: cursor } = ask(library, "search_docs", { query: "key error page", limit: 1 })
  const refused = (args: object, where = library) => {
    const answer = call(where, "search_docs", { query: "key error page", ...args })
    return "refusal" in answer ? answer.refusal : "not refused"
  }
  expect(refused({ cursor, query: "key" })).toContain("another query")
  expect(refused({ cursor }, libraryOf({ index: "key error page" }, "v2"))).toContain("have changed")
  expect(refused({ cursor: `${String(cursor)}x` })).toContain("not one that this tool returned")
})

test("any query gets results that fit the schema", () => {
  const odd = fc.string({
    unit: fc.constantFrom(" ", "\u0000", ...String.raw`key c.req - . _ $ \ ( [ * ^ é 東 🎉 A`.split(" ")),
  })
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: anyCharacter, minLength: 1 }), odd).filter((q) => q.length > 0 && q.length <= 500),
      (query) => {
        expect(search(query).results.length).toBeLessThanOrEqual(5)
      },
    ),
    runs(50_000),
  )
})

test("a snippet that ends in a colon continues with the matching row", () => {
  const claims = libraryOf({
    token: "# Token\n\nIts claims:\n\n| Claim | Meaning |\n|---|---|\n| `iss` | Issuer |\n| `exp` | End |\n",
  })
  const snippet = (query: string) => (ask(claims, "search_docs", { query }) as Results).results[0]?.snippet
  expect(snippet("claims of exp")).toBe("Its claims: Claim: exp | Meaning: End")
  expect(snippet("its claims")).toBe("Its claims: Claim: iss | Meaning: Issuer")
})
