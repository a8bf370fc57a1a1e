import type { Section } from "./markdown.ts"

/** A table's row that has an anchor of its own. */
export type Row = Omit<Section, "level">

/** A page as it is shown. */
export type SitePage = {
  readonly slug: string
  /** Its path in the folder, `/` between the parts. */
  readonly file: string
  readonly title: string
  readonly description: string
  /** Where its author wants it in the navigation. */
  readonly section?: string
  readonly order?: number
  /** The heading in its section's list that it stands under. */
  readonly group?: string
  /** Of an operation's page: the HTTP method. */
  readonly method?: string
  /** Of an operation that a reader may try out on its page: without a key, with a key, or with a session token. */
  readonly trial?: "open" | "key" | "token"
  readonly markdown: string
  /** Where the page's text starts, behind the front matter. */
  readonly bodyStart: number
  readonly sections: readonly Section[]
  readonly rows: readonly Row[]
}
