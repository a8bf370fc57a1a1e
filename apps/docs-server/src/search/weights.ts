/**
 * The texts of a page, in the order in which they are read, and what a word in each is worth: at most `weight`, and the less
 * the longer the text is (`length`, 0 to 1) and the fewer times it stands there (`half`: so many give half). `folders` is the
 * path without its last part; `names` stand as code in the first cell of a table's row. A description that its author wrote
 * opens the body.
 */
export const fields = {
  title: { weight: 3.5, half: 0.4, length: 0.3 },
  slug: { weight: 3.5, half: 0.4, length: 0.3 },
  folders: { weight: 7.5, half: 1.2, length: 0.3 },
  names: { weight: 6, half: 0, length: 0 },
  body: { weight: 4, half: 1.2, length: 0.75 },
}

/** On top, for where in the body a word first stands: half at `half` words from the start. */
export const early = { weight: 4, half: 50 }

/** What a page gains besides its words, each times a share from 0 to 1. */
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

/** Only so many pages, the best by their terms, are read for neighbours and sections. */
export const maxRead = 25

/** A page is listed only with this share of the best one's score: others have a word or two in common with the query. */
export const cut = { leastShare: 0.4 }

/** What each way of meaning a term counts. */
export const meant = {
  asWritten: 1,
  /** The parts of an identifier that is known as a whole only break ties. */
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

/** So many times in a text of so much of the usual length, between 0 and 1. */
export const saturate = (
  times: number,
  lengths: number,
  by: { readonly half: number; readonly length: number },
): number => (times === 0 ? 0 : times / (times + by.half * (1 - by.length + by.length * lengths)))

/** How telling a term is that `having` of `all` have: the square root of BM25's measure, as whole questions want it. */
export const rarity = (having: number, all: number): number =>
  Math.sqrt(Math.log(1 + (all - having + 0.5) / (having + 0.5)))
