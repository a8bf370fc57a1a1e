// Prints "N passed, N failed" out of a test report, and fails when anything failed or nothing ran. A test file that could
// not be loaded has no test of its own: it counts as one that failed.
const { readFileSync } = require("node:fs")

try {
  const report = JSON.parse(readFileSync(process.argv[2], "utf8"))
  const tests = report.testResults.flatMap((file) => file.assertionResults)
  const count = (status) => tests.filter((test) => test.status === status).length
  const broken = report.testResults.filter(
    (file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
  )
  const passed = count("passed")
  const failed = count("failed") + broken.length
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 && passed > 0 && report.success ? 0 : 1
} catch (error) {
  console.error(`no test report: ${error.message}`)
  console.log("0 passed, 1 failed")
  process.exitCode = 1
}
