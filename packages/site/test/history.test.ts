import { expect, test } from "vitest"
import { createHistory } from "../browser/live/history.ts"

test("what a chart keeps has a bound, however often a stream begins anew with other records", () => {
  const history = createHistory()
  for (let index = 1; index <= 5000; index++)
    history.addOld({ block_time: 1_700_000_000 + index, [`n${index}`]: index })
  expect(history.paths().length).toBeLessThan(1000)
  expect(history.paths()).toContain("n5000")
})
