export { type Asset, bundles, favicon, styles } from "./assets.ts"
export { consoleView } from "./console-view.ts"
export type { Html, Look } from "./frame.ts"
export { loadHighlighter } from "./highlight.ts"
export { withAbsoluteLinks } from "./absolute-links.ts"
export { createLinks, decodePath, type Links, pageLink, pageUrl, rootOf } from "./links.ts"
export {
  countTokens,
  createParser,
  lineStarts,
  blocksOf,
  outline,
  plainText,
  type Row,
  type Section,
  type SitePage,
  trials,
} from "./markdown.ts"
export { createNavigation, hasText } from "./navigation.ts"
export { longestRendered, renderPage } from "./render-page.ts"
export {
  changeSchema,
  longestStackPage,
  minuteOf,
  type Stack,
  type StackChange,
  stackMarkdown,
  stackSchema,
  stacksMarkdown,
} from "./stack-markdown.ts"
export { homeView, type Live, noStacksView, stacksView } from "./stacks-view.ts"
export { errorView, indexView, pageView, searchView } from "./views.ts"
