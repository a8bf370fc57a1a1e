/** What a page's score is made of; each is multiplied by a share from 0 to 1. */
export const weights = {
  /** How much of the query the page is about, squared: a word of the title or the path counts 1, another by its first position. */
  about: 9,
  /** Of the query in the title and the path. */
  name: 7,
  /** Of the query in code style in the first cells of tables. */
  tableName: 10,
  /** Of the query in the body, by how often each word stands there. */
  body: 6,
  /** Of the title's terms that the query has, squared. */
  title: 1.5,
  /** Of the query in another page's text around a link to this one, squared. */
  linked: 11,
  /** For a page that says little else. */
  short: 1.5,
  /** Of neighbours in the query that are neighbours on the page. */
  pairs: 3,
  /** Of the query that the best section has, squared. */
  section: 6,
  /** Of the query that a row of a table opens with. */
  row: 6,
  /** About the most that a page of a low weight can get, so that no stack whose publisher repeats a question stands above its guide. */
  aside: 10,
  /** For a page that the query names: more than anything else can give. */
  named: 1000,
}

/** At this many words a value is half of what it is at none: of a first position, a page's length and the text around a link. */
export const half = { position: 50, page: 100, link: 25 }

export const bodyBy = { half: 1.2, length: 0.75 }

/** Pairs and sections count less for longer queries, which describe a page: fully for at most this many terms. */
export const shortQuery = 6

/** Only this many pages, the best by their terms, are read for neighbours and sections. */
export const maxRead = 10

/** A page is listed only if it has this share of the best score: worse ones only share a word or two with the query. */
export const cut = { leastShare: 0.3 }

/** The weight of a term by how the query refers to it. */
export const meant = {
  asWritten: 1,
  /** The parts of an identifier that is itself known: they only break ties. */
  partOfKnown: 0.2,
  corrected: 0.8,
  /** A word that shares its beginning with one that no page has. */
  sameBeginning: 0.5,
}

/** What decides between the sections of a page. */
export const sectionWeights = {
  /** How much of the query a section has, by the times of each of its terms there. */
  words: { weight: 1.2, half: 0.7, length: 0 },
  covered: { half: 1.2, length: 0.9 },
  /** For a word of a heading that the query doesn't have. */
  otherWord: 0.3,
}

/** What a passage of code is worth, to prose, an item or a row. */
export const passageWeights = {
  code: 0.6,
  /** For a word that the section's heading has, too. */
  ofHeading: 0.3,
  /** Of neighbours in the query that are neighbours in the passage. */
  pairs: 0.4,
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
