import { isUtf8 } from "node:buffer"
import { isObject } from "@svc/common/json-object"
import { instructionErrors, transactionErrors } from "@svc/common/runtime-errors"
import { isShallow } from "./exact-json.ts"
import { logLines, messages, words } from "./known-texts.ts"

// Reads a provider's error for one question: is every text and every member in it a known one? Whatever else a provider says may be
// about an earlier copy of the transaction, in any words and any language.

/** Base64 that isn't a text, neither as it stands nor decoded: all of it, or four letters in a row. */
const isBinary = (base64: unknown): boolean => {
  const bytes = Buffer.from(String(base64), "base64")
  const isReadable = isUtf8(bytes) && !/[^\P{Cc}\t\n\r]/u.test(bytes.toString())
  if (bytes.toString("base64") !== base64 || !/[\d+/=]/.test(base64)) return false
  return !isReadable && !/[a-z]{4}/i.test(bytes.toString("latin1"))
}

const oneOf = (patterns: readonly string[]): string => `(?:${patterns.join("|")})`

/** What the places of the forms in known-texts.ts stand for. */
const places: Record<string, string> = {
  n: String.raw`(?:\d{1,20}|0x[\da-f]{1,16})`,
  // Its digit and its length tell an address from words without spaces. The System program's is 32 ones.
  account: "(?:1{32}|(?=[A-Za-z]*[1-9])[1-9A-HJ-NP-Za-km-z]{43,44})",
  bytes: "(?<bytes>[A-Za-z0-9+/= ]+)",
}
places["derived"] = `Address \\{ address: ${places["account"]}, base: (?:None|Some\\(${places["account"]}\\)) \\}`
places["error"] = oneOf(Object.keys(instructionErrors))
const pattern = (form: string): string =>
  form
    .replaceAll(/[.()[\]{}|+*?^$\\]/g, String.raw`\$&`)
    .replaceAll(/<(\w+)>/g, (_, name: string) => places[name] ?? "")
for (const [name, list] of Object.entries(words)) places[name] = oneOf(list)
places["instruction"] = oneOf(
  [
    "custom program error: <n>",
    // BorshIoError of older validators, which write the same cause each time.
    `${instructionErrors.BorshIoError}: Unknown`,
    ...Object.values(instructionErrors),
  ].map(pattern),
)
places["transaction"] = oneOf(
  ["Error processing Instruction <n>: <instruction>", ...Object.values(transactionErrors)].map(pattern),
)

type Check = (value: unknown) => boolean

/** A text in one of these forms. */
const textIn = (forms: readonly string[]): Check => {
  const known = new RegExp(`^${oneOf(forms.map(pattern))}$`)
  return (value) => {
    const match = typeof value === "string" ? known.exec(value) : null
    return match !== null && (match.groups?.["bytes"]?.split(" ").every(isBinary) ?? true)
  }
}
const isNumber: Check = (value) => typeof value === "number" || JSON.isRawJSON(value)
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || value === null || check(value)
const listOf = (check: Check): Check => optional((value) => Array.isArray(value) && value.every(check))
/** An object that has no other members. */
const objectOf = (members: Readonly<Record<string, Check>>): Check =>
  optional(
    (value) =>
      isObject(value) &&
      Object.entries(value).every(([name, member]) => Object.hasOwn(members, name) && members[name]?.(member) === true),
  )

const names = oneOf(Object.keys(transactionErrors))
const causes = oneOf(Object.keys(instructionErrors))
const cause = new RegExp(
  String.raw`^(?:"${names}"|\{"${names}":(?:\d+|\{"account_index":\d+\})\}|` +
    String.raw`\{"InstructionError":\[\d+,(?:"${causes}"|\{"Custom":\d+\}|\{"BorshIoError":"Unknown"\})\]\})$`,
)
const isCause: Check = (value) => isShallow(value, 4) && cause.test(JSON.stringify(value))

const addresses = listOf(textIn(["<account>"]))
const numbers = listOf(isNumber)
const nothing = listOf(() => false)

/** The members of `data`: those of a simulation's result, and the slots that a node is behind or at. */
const data: Readonly<Record<string, Check>> = {
  accounts: nothing,
  contextSlot: optional(isNumber),
  err: optional(isCause),
  fee: optional(isNumber),
  innerInstructions: nothing,
  loadedAccountsDataSize: optional(isNumber),
  loadedAddresses: objectOf({ readonly: addresses, writable: addresses }),
  logs: listOf(textIn(logLines)),
  numSlotsBehind: optional(isNumber),
  postBalances: numbers,
  postTokenBalances: nothing,
  preBalances: numbers,
  preTokenBalances: nothing,
  replacementBlockhash: nothing,
  returnData: objectOf({
    programId: textIn(["<account>"]),
    data: (value) => Array.isArray(value) && value.length === 2 && isBinary(value[0]) && value[1] === "base64",
  }),
  unitsConsumed: optional(isNumber),
}

const responses = Object.fromEntries(
  Object.entries(messages).map(([code, forms]) => {
    const isMessage = textIn(["", ...forms])
    const isData = objectOf(data)
    const error = objectOf({ code: isNumber, message: isMessage, data: (value) => isMessage(value) || isData(value) })
    return [code, objectOf({ jsonrpc: textIn(["2.0"]), id: isNumber, error })]
  }),
)

/** Whether each text and member of the response with this error is known, so that none can be about an earlier copy. */
export const saysNothingOfACopy = (code: number, body: unknown): boolean => responses[code]?.(body) === true
