import { parseExactly } from "@svc/common/exact-json"

const integer = /^-?(0|[1-9][0-9]*)$/

/** Parses JSON; an integer that a double cannot hold becomes a bigint instead of a nearby number. Throws SyntaxError. */
export const parseJson = (text: string): unknown =>
  parseExactly(text, (source, value) => (integer.test(source) ? BigInt(source) : value))
