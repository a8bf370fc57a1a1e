import type { Corpus, Page } from "../corpus.ts"

export type NavigationSection = { readonly name: string; readonly pages: readonly Page[] }

export type Navigation = {
  readonly sections: readonly NavigationSection[]
  /** A page's place among all, in the order of the navigation. */
  readonly placeOf: (page: Page) => {
    readonly section: NavigationSection | undefined
    readonly previous: Page | undefined
    readonly next: Page | undefined
  }
}

const last = Number.MAX_VALUE

const sentence = (name: string): string => {
  const words = name.replaceAll(/[-_]+/g, " ").trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Other tools make pages of front matter alone; there is nothing on them to read. */
export const hasText = ({ markdown, bodyStart }: Page): boolean => /\S/.test(markdown.slice(bodyStart))

/** The section that a page's author named, else its folder: by the title of the folder's own page, or by its name. */
const sectionOf = (corpus: Corpus, { section, slug, file }: Page): string => {
  if (section !== undefined) return section
  const folder = file.includes("/") ? (slug.split("/")[0] ?? "") : ""
  if (folder === "") return "Pages"
  return corpus.pages.get(folder)?.section ?? sentence(folder)
}

/** Sections by their smallest `order`, then by name; pages by `order`, a folder's own page first, then by slug. */
export const createNavigation = (corpus: Corpus): Navigation => {
  const isIndex = (page: Page): number => Number(/(?:^|\/)index\.mdx?$/.test(page.file))
  const bySlug = (a: Page, b: Page): number => (a.slug < b.slug ? -1 : 1)
  const pages = [...corpus.pages.values()]
    .filter(hasText)
    .sort((a, b) => (a.order ?? last) - (b.order ?? last) || isIndex(b) - isIndex(a) || bySlug(a, b))
  const sections = [...Map.groupBy(pages, (page) => sectionOf(corpus, page))]
    .map(([name, own]) => ({
      name,
      pages: own,
      order: own.reduce((least, { order = last }) => Math.min(least, order), last),
    }))
    .sort((a, b) => a.order - b.order || (a.name < b.name ? -1 : 1))
  const all = sections.flatMap((section) => section.pages.map((page) => ({ page, section })))
  const places = new Map(all.map(({ page }, index) => [page, index]))
  return {
    sections,
    placeOf: (page) => {
      const index = places.get(page)
      if (index === undefined) return { section: undefined, previous: undefined, next: undefined }
      return { section: all[index]?.section, previous: all[index - 1]?.page, next: all[index + 1]?.page }
    },
  }
}
