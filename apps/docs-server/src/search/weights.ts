/**
 * The fields of a page in the order in which they are read, and the value of a word in each: at most `weight`, and less
 * for a longer field (`length`, 0 to 1) and for fewer occurrences (`half` of them give half of the weight). `folders` is the
 * path without its last part; `names` are in code style in the first cell of a table's row. A description by the author
 * is the beginning of the body.
 */
export const fields = {
  title: { weight: 3.5, half: 0.4, length: 0.3 },
  slug: { weight: 3.5, half: 0.4, length: 0.3 },
  folders: { weight: 7.5, half: 1.2, length: 0.3 },
  names: { weight: 6, half: 0, length: 0 },
  body: { weight: 4, half: 1.2, length: 0.75 },
}

/** Added for the first position of a word in the body: half of the weight at `half` words from the start. */
export const early = { weight: 4, half: 50 }

/** What is added to a page's score; each is multiplied by a share from 0 to 1. */
export const bonus = {
  /** Of the title's terms that the query has, squared. */
  title: 1.5,
  /** Of neighbours in the query that are neighbours in the title, and anywhere. */
  titlePairs: 1.5,
  pairs: 1.5,
  /** Of the query that the best section has, squared. */
  section: 4,
  /** For a row of a table that opens with the only word of the query. */
  row: 2.5,
  /** For a page that the query names: more than anything else can give. */
  named: 1000,
}

/** Only this many pages, the best by their terms, are read for neighbours and sections. */
export const maxRead = 10

/** A page is listed only if it has this share of the best score: worse ones only share a word or two with the query. */
export const cut = { leastShare: 0.4 }

/** The weight of a term by how the query refers to it. */
export const meant = {
  asWritten: 1,
  /** The parts of an identifier that is itself known: they only break ties. */
  partOfKnown: 0.2,
  corrected: 0.8,
  completed: 0.4,
}

/** What decides between the sections of a page. */
export const sectionWeights = {
  /** How much of the query a section has, by the times of each of its terms there. */
  words: { weight: 1.2, half: 0.7, length: 0 },
  covered: { half: 1.2, length: 0.9 },
  /** For a word of the page's title. */
  ofTitle: 0.2,
  /** For a word of a heading that the query doesn't have. */
  otherWord: 0.3,
  pairs: 0.3,
  passage: 0.5,
}

/** What a passage is worth by its kind, and for neighbours. */
export const passageWeights = {
  prose: 1,
  item: 1,
  row: 1,
  code: 0.6,
  pairs: 0.3,
  /** For a word that the section's heading has, too. */
  ofHeading: 0.3,
  /** A heading with more of the query than this is answered by the passage below it. */
  headingAlone: 0.8,
}

/** A value between 0 and 1 for the occurrences in a text of a relative length. */
export const saturate = (
  times: number,
  lengths: number,
  by: { readonly half: number; readonly length: number },
): number => (times === 0 ? 0 : times / (times + by.half * (1 - by.length + by.length * lengths)))

/** The rarity of a term that `having` of `all` pages have: the square root of BM25's, which suits whole questions. */
export const rarity = (having: number, all: number): number =>
  Math.sqrt(Math.log(1 + (all - having + 0.5) / (having + 0.5)))
