// What every page does beyond being read: copy, find while typing, say where the reader is, try an operation.
import type { Trial } from "../src/markdown.ts"
import { addCopyButton, addPageCopy, addTabs } from "./page/copy.ts"
import { addFlow } from "./page/flow.ts"
import { followReader } from "./page/reader.ts"
import { addSuggestions } from "./page/search.ts"
import { addTryPanel } from "./page/try.ts"

const all = (selector: string): Iterable<HTMLElement> => document.querySelectorAll<HTMLElement>(selector)

for (const group of all(".group")) addTabs(group)
for (const block of all(".code:not([data-language=http])")) addCopyButton(block)
for (const link of document.querySelectorAll<HTMLAnchorElement>(".tools a")) addPageCopy(link)
const form = document.querySelector<HTMLFormElement>(".top .search")
const input = form?.querySelector("input")
if (form && input) addSuggestions(form, input)
followReader()
for (const place of all("[id='frame.flow']")) addFlow(place)
for (const place of all("[id='frame.try']")) addTryPanel(place, place.dataset["kind"] as Trial)
