// Everything that Unicode says is drawn as nothing (zero-width, direction marks, fillers, tags), but for the joiners that
// some scripts and emoji need and the selectors that choose a glyph.
const invisible =
  /(?![\u200C\u200D\p{Variation_Selector}])[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|[\u{FFF9}-\u{FFFB}]/u
const visible = /[^\u200C\u200D\p{Variation_Selector}\p{White_Space}]/u

/**
 * A name as it is stored and shown: NFC, trimmed, every run of white space one space. Undefined when it can't be one:
 * empty, over 64 code points, or with characters that can't be seen.
 */
export const normaliseName = (text: string): string | undefined => {
  const name = text
    .normalize("NFC")
    .replaceAll(/\p{White_Space}+/gu, " ")
    .replaceAll(/^ | $/g, "")
  if (invisible.test(name) || !visible.test(name)) return undefined
  return Array.from(name).length <= 64 ? name : undefined
}

/** What is wrong with a text that `normaliseName` does not take. */
export const nameFault = "must have 1 to 64 visible characters, without control or direction marks"
