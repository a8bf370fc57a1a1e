import { hasKey } from "@svc/keys"

// Every character that Unicode displays as nothing (zero-width, direction marks, fillers, tags), except joiners, which
// some scripts and emoji need, and variation selectors.
const invisible =
  /(?![\u200C\u200D\p{Variation_Selector}])[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|[\u{FFF9}-\u{FFFB}]/u
const visible = /[^\u200C\u200D\p{Variation_Selector}\p{White_Space}]/u

/**
 * Normalizes a name for storing and showing: NFC, trimmed, each run of white space one space. Undefined if it is empty,
 * over 64 code points, or has invisible characters or a key in it, which would be shown in lists.
 */
export const normaliseName = (text: string): string | undefined => {
  const name = text
    .normalize("NFC")
    .replaceAll(/\p{White_Space}+/gu, " ")
    .replaceAll(/^ | $/g, "")
  if (invisible.test(name) || !visible.test(name) || hasKey(name)) return undefined
  return Array.from(name).length <= 64 ? name : undefined
}

export const nameLength = "1 to 64 visible characters"
/** The reason for a name that `normaliseName` rejects. */
export const nameFault = `must have ${nameLength}, without control or direction marks, and no API key`
