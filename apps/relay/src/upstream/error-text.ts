import { isUtf8 } from "node:buffer"
import { getAddressEncoder, isAddress } from "@solana/kit"
import { isObject } from "@svc/common/json-object"
import { copyWords, harmlessPhrases, harmlessWords } from "./harmless-words.ts"

// Reads the texts of a provider's error for one question: can anything in it be about an earlier copy of the transaction? What
// it can't read, it answers with yes: another script or language, an unknown word, a signature, deep nesting.

const deepest = 12
const addresses = getAddressEncoder()
const asWords = (list: readonly string[]): RegExp => new RegExp(`\\b(?:${list.join("|")})\\b`, "g")
const phrases = asWords(harmlessPhrases)
const copies = asWords(copyWords)
const isReadable = (text: string): boolean => /^[\t\n\r -~]*$/.test(text) && !/\\u/i.test(text)

/** Words in lower case, separated by spaces: `AlreadyProcessed` and `already_processed` are two words. */
const wordsOf = (text: string): string =>
  text
    .replace(/([a-z\d])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$1$3 $2")
    .toLowerCase()
    .replace(/[^a-z\d]+/g, " ")

// Encoded bytes can contain any short word by chance, but not these.
const isSpelledOut = (text: string): boolean =>
  /accepted|already|confirmed|duplicat|finali[sz]ed|forwarded|inflight|landed|processed|received|submitted/i.test(text)

const mayNameCopy = (text: string): boolean => {
  const rest = wordsOf(text).replace(phrases, "|")
  return rest.search(copies) >= 0 || isSpelledOut(rest.replaceAll(" ", ""))
}

const isUtf8Text = (bytes: Buffer): boolean => isUtf8(bytes) && !/[^\P{Cc}\t\n\r]/u.test(bytes.toString())

const isAccount = (token: string): boolean =>
  token.length >= 32 &&
  token.length <= 44 &&
  isAddress(token) &&
  !isSpelledOut(token) &&
  ![Buffer.from(token, "base64"), Buffer.from(addresses.encode(token))].some(isUtf8Text)

/** Binary data in base64, as the runtime writes it. Bytes that are UTF-8 without control characters are read as a text. */
const isBinary = (text: string): boolean => {
  const bytes = Buffer.from(text, "base64")
  if (bytes.toString("base64") !== text || isSpelledOut(text)) return false
  return !isUtf8Text(bytes) || isHarmlessText(bytes.toString())
}

const isNumber = (word: string): boolean => /^\d+[a-z]{0,2}$|^0x[\da-f]{1,10}$/.test(word)

const isHarmlessText = (text: string): boolean => {
  if (!isReadable(text)) return false
  const tokens = text.replace(/\bsendTransaction\b/g, " ").split(/[^\w]+/)
  const words = tokens.filter((token) => !isAccount(token)).flatMap((token) => wordsOf(token).trim().split(" "))
  const rest = words.filter((word) => !isNumber(word)).join(" ")
  return rest
    .replace(phrases, " ")
    .split(" ")
    .every((word) => word === "" || harmlessWords.has(word))
}

/** What a program writes: plain ASCII without a word for a copy. Long encoded bytes aren't words. */
const isHarmlessProgramText = (text: string): boolean => {
  const encoded = /\b(?=\w*\d)(?=\w*[a-z])(?=\w*[A-Z])[\w+/]{24,}=*/g
  const words = text.replace(encoded, (token) => (isSpelledOut(token) ? token : " "))
  return isReadable(text) && !mayNameCopy(words)
}

/** The runtime's own lines, and a program's, which says nothing of transactions but may say anything else. */
const isHarmlessLog = (line: string): boolean => {
  const [, program = "", rest = ""] = /^Program (\w+) (.*)$/s.exec(line) ?? []
  if (/^(?:invoke \[\d+\]|success|consumed \d+ of \d+ compute units)$/.test(rest)) return isAddress(program)
  const [, kind, said = ""] = /^Program (log|data|return): (.*)$/s.exec(line) ?? []
  if (kind === "log") return isHarmlessProgramText(said)
  if (kind === undefined) return isHarmlessText(line)
  return said.split(" ").every((part) => isAccount(part) || isBinary(part))
}

const isHarmless = (value: unknown, depth: number): boolean => {
  if (typeof value === "string") return isHarmlessText(value)
  if (typeof value !== "object" || value === null || JSON.isRawJSON(value)) return true
  if (depth === 0) return false
  if (Array.isArray(value)) {
    const [text, encoding] = value as readonly unknown[]
    const isEncoded = value.length === 2 && encoding === "base64" && typeof text === "string"
    return isEncoded ? isBinary(text) : value.every((item) => isHarmless(item, depth - 1))
  }
  return Object.entries(value).every(([key, member]) => {
    if (key !== "logs" || !Array.isArray(member)) return isHarmlessText(key) && isHarmless(member, depth - 1)
    return member.every((line: unknown) => typeof line === "string" && isHarmlessLog(line))
  })
}

/** Whether no text of a JSON-RPC error's response, keys included, can be about an earlier copy of the transaction. */
export const saysNothingOfACopy = (body: unknown): boolean => isObject(body) && isHarmless(body, deepest)
