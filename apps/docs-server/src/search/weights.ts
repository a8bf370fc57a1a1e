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

/** How heavy headings are, for finding a page and for choosing its section: the one number to change for both. */
const headings = 1

/** On top, for where in the body a word first stands: half at `half` words from the start. */
export const early = { weight: 5, half: 50 }

/** What a page gains besides its words, each times a share from 0 to 1. */
export const bonus = {
  /** Of the title's terms that the query has, squared. */
  title: 1.5,
  /** Of neighbours in the query that are neighbours in the title, and anywhere. */
  titlePairs: 1.5,
  pairs: 1.5,
  /** Of the query that the best section has, squared. */
  section: 3,
  /** Of the query in a section's heading, squared, times the share of the heading that the query has. */
  heading: 2.5 * headings,
  /** For a row of a table that opens with the only word of the query. */
  row: 2.5,
  /** For a page that the query names: more than anything else can give. */
  named: 1000,
}

/** Only so many pages, the best by their terms, are read for neighbours and sections. */
export const mostRead = 25

/** A page is listed only with this share of the best one's score: others have a word or two in common with the query. */
export const cut = { leastShare: 0.4 }

/** What each way of meaning a term counts. */
export const meant = {
  asWritten: 1,
  /** The parts of an identifier that is known as a whole only break ties. */
  partOfKnown: 0.2,
  corrected: 0.8,
  completed: 0.4,
  /** One word for two that stand side by side in the query. */
  joined: 0.5,
  /** A longer identifier that holds the one that was asked for. */
  held: 0.8,
}

/** How a term's times in a section of some length count, and what decides between the sections of a page. */
export const sectionWeights = {
  half: 1.2,
  length: 0.9,
  /** A word in code counts this much of one in text. */
  code: 0.8,
  /** A word of the page's title, too. */
  ofTitle: 0.2,
  words: 1.2,
  halfOfWords: 0.7,
  heading: headings,
  headingCover: headings,
  otherWord: 0.3,
  pairs: 0.3,
  passage: 0.5,
}

/** What a passage is worth by its kind, for neighbours, and for opening with a term of the query. */
export const passageWeights = {
  kind: { prose: 1, item: 1, row: 1, code: 0.6, heading: 0, mark: 0 },
  pairs: 0.3,
  opening: 0.2,
  /** Where the query is one word, a row or an item that opens with it. */
  openingAlone: 1,
  firstProse: 0.02,
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
